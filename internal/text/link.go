package text

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// link are the attributes of a link: a mention where it leads to a user, nil
// where Telegram takes it for no link at all and shows its text alone.
func link(address string) attributes {
	if host, query := inside(address); host == "user" {
		if id, err := strconv.ParseInt(query.Get("id"), 10, 64); err == nil && id > 0 {
			user := json.RawMessage(`{"id":` + strconv.FormatInt(id, 10) + `}`)
			return attributes{"type": encoded("text_mention"), "user": user}
		}
	}
	if !leads(address) {
		return nil
	}
	return kind("text_link", "url", address)
}

// leads reports whether Telegram takes the address of a link. It refuses a whole
// message for one that it does not take among its entities, but not in markup.
func leads(address string) bool {
	scheme, rest, ok := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "tg", "ton", "tonsite":
		return ok
	case "http", "https":
		address = rest
	}
	host := strings.TrimPrefix(address, "//")
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	u, err := url.Parse("http://" + host)
	return err == nil && strings.ContainsAny(u.Hostname(), ".:")
}

// inside takes a link into Telegram apart, tg://emoji?id=5 for one. The host of
// any other link is "".
func inside(address string) (host string, query url.Values) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "tg" {
		return "", nil
	}
	return strings.ToLower(u.Host + u.Opaque), u.Query()
}

// emoji are the attributes of a custom emoji, nil for an id that is none.
func emoji(id string) attributes {
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n == 0 {
		return nil
	}
	return kind("custom_emoji", "custom_emoji_id", id)
}

// timeFormat is a relative time, or the parts of a time that are shown.
var timeFormat = regexp.MustCompile(`^([rR]|[wWdDtT]*)$`)

// moment are the attributes of a time, in seconds since 1970; nil for one that
// Telegram does not take.
func moment(unix, format string) attributes {
	n, err := strconv.ParseInt(unix, 10, 32)
	if err != nil || n <= 0 || !timeFormat.MatchString(format) {
		return nil
	}
	a := attributes{"type": encoded("date_time"), "unix_time": json.RawMessage(strconv.FormatInt(n, 10))}
	if format != "" {
		a["date_time_format"] = encoded(format)
	}
	return a
}
