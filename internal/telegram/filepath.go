package telegram

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFilePath bounds a file_path in bytes. Escaped three for one it still leaves
// the request line far below the 4 KiB at which net/http starts to write it out,
// which Error.Written builds on.
const maxFilePath = 512

// scheme is how an address of its own would begin.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// escapeFilePath makes a file_path fit to follow the token in a URL, each segment
// escaped on its own, so that nothing in it can leave the bot's files or ask
// another host. The path comes from a server, but a handler may have kept it
// where users write. Errors never quote it: a server run with --local puts the
// token into its paths (tdlib/telegram-bot-api README).
func escapeFilePath(path string) (string, error) {
	if err := checkFilePath(path); err != nil {
		return "", fmt.Errorf("%w: file path: %w", ErrInvalidCall, err)
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return "", fmt.Errorf("%w: file path: expected no empty, . or .. segment", ErrInvalidCall)
		}
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/"), nil
}

func checkFilePath(path string) error {
	switch {
	case path == "":
		return errors.New("expected the file_path of getFile")
	case len(path) > maxFilePath:
		return fmt.Errorf("expected at most %d bytes", maxFilePath)
	case path[0] == '/':
		return errors.New("it is absolute: a server run with --local leaves the file on its own disk, open it there")
	case scheme.MatchString(path):
		return errors.New("expected no address")
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unprintable):
		return errors.New("expected printable UTF-8 without backslashes")
	}
	return nil
}

// unprintable includes the backslash, which some servers take for a slash.
func unprintable(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }
