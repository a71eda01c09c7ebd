package telegram

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/go-resty/resty/v2"
)

const (
	defaultBaseURL     = "https://api.telegram.org"
	defaultSendTimeout = 75 * time.Second
	maxBody            = 64 << 20
	idlePerHost        = 64
	userAgent          = "durabot"
	dialTimeout        = 10 * time.Second
)

// cleanPath is the only kind of path prefix a base URL may have: no escapes, no
// dots alone, no query, nothing that could move the token elsewhere.
var cleanPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?$`)

// Options is what New needs.
type Options struct {
	// BaseURL is the server: http or https, a host, optionally a plain path
	// prefix; a trailing slash does not matter. Default https://api.telegram.org.
	BaseURL string
	// Token is required.
	Token Token
	// SendTimeout bounds every call but Updates, from dialling to the last byte.
	// Telegram holds a call for up to 60 s to absorb a flood wait, so a shorter
	// one turns good sends into unknown ones. In Download it bounds each silence,
	// not the whole. Default 75 s.
	SendTimeout time.Duration
	// Transport carries the requests. It must serve net/http/httptrace as
	// http.Transport does, or Error.Written is always false. Default: a
	// transport that takes its proxy from the environment.
	Transport http.RoundTripper
}

// Client makes Bot API calls for one bot. It is safe for concurrent use, keeps no
// state between calls but its connections, and never retries.
type Client struct {
	root    string // without the token, so that printing a Client shows none
	token   Token
	timeout time.Duration
	http    *http.Client
	resty   *resty.Client
}

// New checks opts and opens nothing. Its errors do not quote the base URL: people
// paste whole request URLs there, token included.
func New(opts Options) (*Client, error) {
	root, err := parseBaseURL(opts.BaseURL)
	if err != nil {
		return nil, err
	}
	if opts.Token.Reveal() == "" {
		return nil, errors.New("telegram client: a token is required")
	}
	if opts.SendTimeout < 0 {
		return nil, fmt.Errorf("telegram client: send timeout %s is negative", opts.SendTimeout)
	}
	if opts.SendTimeout == 0 {
		opts.SendTimeout = defaultSendTimeout
	}
	if opts.Transport == nil {
		opts.Transport = newTransport()
	}
	hc := &http.Client{Transport: opts.Transport, CheckRedirect: refuseRedirect}
	return &Client{root: root, token: opts.Token, timeout: opts.SendTimeout, http: hc, resty: newResty(hc)}, nil
}

func parseBaseURL(base string) (string, error) {
	if base == "" {
		base = defaultBaseURL
	}
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return "", errors.New("telegram client: base URL: expected http:// or https:// and a host")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", errors.New("telegram client: base URL: expected no user, query or fragment")
	}
	if u.RawPath != "" || !cleanPath.MatchString(u.Path) {
		return "", errors.New("telegram client: base URL: expected no path, or a plain prefix without the token")
	}
	path := u.Path
	if path != "" && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	return u.Scheme + "://" + u.Host + path, nil
}

// newTransport speaks HTTP/1.1 only. There a request owns its connection, and a
// deadline closes it; over HTTP/2 a poll that timed out would leave the dead
// connection in the pool for the next one.
func newTransport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConns:        2 * idlePerHost,
		MaxIdleConnsPerHost: idlePerHost,
		IdleConnTimeout:     90 * time.Second,
		Protocols:           &protocols,
	}
}

// refuseRedirect hands every 3xx back as an answer. The Bot API sends none, another
// host must not see the token, and net/http would turn most POSTs into GETs.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func newResty(hc *http.Client) *resty.Client {
	return resty.NewWithClient(hc).
		SetLogger(silence{}).
		SetDisableWarn(true).
		SetRetryCount(0).
		SetResponseBodyLimit(maxBody).
		SetHeader("User-Agent", userAgent).
		SetPreRequestHook(attachUpload)
}

// silence drops what resty would print to stderr, which can be the URL.
type silence struct{}

// Errorf drops its text.
func (silence) Errorf(string, ...any) {}

// Warnf drops its text.
func (silence) Warnf(string, ...any) {}

// Debugf drops its text.
func (silence) Debugf(string, ...any) {}
