package telegramsim

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// errLink is why an address makes no link, in Telegram's words.
var errLink = errors.New("Wrong HTTP URL")

// checkedLink is an address as Telegram shows it (tdlib/td, LinkManager): with a
// scheme, a host in lower case that has a dot, and a path. A markup link that is
// none leaves plain text behind.
func checkedLink(link string) (string, error) {
	scheme, rest, found := strings.Cut(link, "://")
	if !found {
		scheme, rest = "http", link
		if deep, _, isDeep := strings.Cut(link, ":"); isDeep && isApp(deep) {
			scheme, rest = deep, link[len(deep)+1:]
		}
	}
	scheme = strings.ToLower(scheme)
	host, path := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host, path = rest[:end], rest[end:]
	}
	host = strings.ToLower(host)
	if _, err := url.Parse(scheme + "://" + host + path); err != nil || host == "" {
		return "", errLink
	}
	switch {
	case isApp(scheme):
		return scheme + "://" + host + path, nil
	case scheme != "http" && scheme != "https", !strings.Contains(host, "."):
		return "", errLink
	case !strings.HasPrefix(path, "/"):
		path = "/" + path
	}
	return scheme + "://" + host + path, nil
}

// isApp tells the schemes that a Telegram app opens by itself.
func isApp(scheme string) bool {
	return strings.EqualFold(scheme, "tg") || strings.EqualFold(scheme, "ton")
}

// deepLink takes a tg: link apart, false for any other. Both tg://host and tg:host are
// in use. A link with a longer path has no query.
func deepLink(link string) (host string, query url.Values, isDeep bool) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "tg" {
		return "", nil, false
	}
	host, path, _ := strings.Cut(u.Host+u.Path+u.Opaque, "/")
	if path != "" {
		return strings.ToLower(host), nil, true
	}
	return strings.ToLower(host), u.Query(), true
}

// linked is a text_link, or the text_mention that a link to a user makes; false for
// an address that is no link.
func linked(link string) (Entity, bool) {
	if host, query, _ := deepLink(link); host == "user" {
		if id, err := strconv.ParseInt(query.Get("id"), 10, 64); err == nil && id > 0 {
			return Entity{Type: "text_mention", User: &EntityUser{ID: id}}, true
		}
	}
	address, err := checkedLink(link)
	return Entity{Type: "text_link", URL: address}, err == nil
}

// embedded is the custom_emoji or the date_time that the address of MarkdownV2's
// "![…](…)" names.
func embedded(link string) (Entity, error) {
	host, query, isDeep := deepLink(link)
	switch {
	case !isDeep:
		return Entity{}, refusal("Custom emoji URL must have scheme tg")
	case host == "time":
		return dateTime(query.Get("unix"), query.Get("format"))
	case host != "emoji":
		return Entity{}, refusal(`Custom emoji URL must have host "emoji"`)
	case !query.Has("id"):
		return Entity{}, refusal("Custom emoji URL must have an emoji identifier")
	}
	return customEmoji(query.Get("id"))
}

func customEmoji(id string) (Entity, error) {
	if !isCustomEmoji(id) {
		return Entity{}, refusal("Invalid custom emoji identifier specified")
	}
	return Entity{Type: "custom_emoji", CustomEmojiID: id}, nil
}

// dateTime keeps the format as it is: how it is spelled is not looked at.
func dateTime(unix, format string) (Entity, error) {
	seconds, err := strconv.ParseInt(unix, 10, 64)
	if err != nil || seconds <= 0 {
		return Entity{}, refusal("Invalid date specified")
	}
	return Entity{Type: "date_time", UnixTime: seconds, Format: format}, nil
}
