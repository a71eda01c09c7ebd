package starter

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/durabot/durabot/internal/telegram"
)

// WebhookPath is where every process of a bot takes posts, those that another
// one passes on included.
const WebhookPath = "/telegram/webhook"

const (
	// postsMost is how many posts are taken at a time, above the most that Telegram
	// has open (max_connections, 100).
	postsMost = 128
	// bodyMost is far above the largest update, of 512 KiB (tdlib/telegram-bot-api,
	// Client.cpp).
	bodyMost = 1 << 20
	// bodyTimeout is for the body of a post, and unreadTimeout for one that nobody
	// wants: net/http reads it to keep the connection.
	bodyTimeout   = 10 * time.Second
	unreadTimeout = time.Second
)

const (
	// passedHeader marks a post that comes from another process of the bot.
	passedHeader = "X-Durabot-Passed"
	// answeredHeader marks the answer to a post with the right secret, so that a
	// process which passes posts on takes no stranger's answer for one.
	answeredHeader = "X-Durabot-Post"
)

// PostAnswer is what became of a post.
type PostAnswer string

// The answers to a post.
const (
	// PostStored: this process stored it, or knew it already.
	PostStored PostAnswer = "stored"
	// PostPassed: another process stored it.
	PostPassed PostAnswer = "passed"
	// PostForbidden: no POST, or its secret is wrong or missing.
	PostForbidden PostAnswer = "forbidden"
	// PostMalformed: it is too large, or its body did not come.
	PostMalformed PostAnswer = "malformed"
	// PostBusy: there were too many at a time. It comes again.
	PostBusy PostAnswer = "busy"
	// PostFailed: it could neither be stored nor passed on. It comes again.
	PostFailed PostAnswer = "failed"
)

// PostAnswers are all of them.
func PostAnswers() []PostAnswer {
	return []PostAnswer{PostStored, PostPassed, PostForbidden, PostMalformed, PostBusy, PostFailed}
}

// PostCounts is told the answer to each post.
type PostCounts interface {
	Posted(answer PostAnswer)
}

// Webhook takes the posts by which Telegram delivers updates: those of every
// process, on duty or not. It answers 200 only once the update is stored, here or
// by the process on duty, and 503 with Retry-After when it cannot be: Telegram
// comes again. A post without the secret is refused unread and leaves no trace
// but a count.
type Webhook struct {
	secrets [][sha256.Size]byte
	slots   chan struct{}
	counts  PostCounts
	storing spell
	passing spell
	desk    desk
}

// NewWebhook returns a receiver that is not on duty and knows nobody to pass a
// post on to. It takes any of the secrets, so that one can be replaced while
// posts with the other are on their way; without any it refuses all posts.
func NewWebhook(secrets []string, counts PostCounts, log *slog.Logger) *Webhook {
	h := &Webhook{
		slots: make(chan struct{}, postsMost), counts: counts,
		storing: spell{log: log, what: "to store them"}, passing: spell{log: log, what: "to pass them on"},
	}
	for _, secret := range secrets {
		h.secrets = append(h.secrets, sha256.Sum256([]byte(secret)))
	}
	return h
}

// ServeHTTP answers one post.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := h.answer(w, r)
	h.counts.Posted(a.what)
	a.write(w)
}

func (h *Webhook) answer(w http.ResponseWriter, r *http.Request) answer {
	if refusal := h.admit(r); refusal.code != 0 {
		readWithin(w, unreadTimeout)
		return refusal
	}
	defer func() { <-h.slots }()
	return h.take(w, r)
}

// answer is the answer to a post. The zero value is none.
type answer struct {
	what       PostAnswer
	code       int
	retryAfter string
}

// again asks Telegram to come again in a second.
func again(what PostAnswer) answer {
	return answer{what: what, code: http.StatusServiceUnavailable, retryAfter: "1"}
}

func (a answer) write(w http.ResponseWriter) {
	if a.retryAfter != "" {
		w.Header().Set("Retry-After", a.retryAfter)
	}
	if a.code == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	if a.what != PostForbidden {
		w.Header().Set(answeredHeader, string(a.what))
	}
	w.WriteHeader(a.code)
}

// admit looks at a post without its body. For one that is let in it returns no
// answer and takes a slot.
func (h *Webhook) admit(r *http.Request) answer {
	switch {
	case r.Method != http.MethodPost:
		return answer{what: PostForbidden, code: http.StatusMethodNotAllowed}
	case !h.genuine(r.Header.Get(telegram.SecretHeader)):
		return answer{what: PostForbidden, code: http.StatusForbidden}
	case r.ContentLength > bodyMost:
		return answer{what: PostMalformed, code: http.StatusRequestEntityTooLarge}
	}
	select {
	case h.slots <- struct{}{}:
		return answer{}
	default:
		return again(PostBusy)
	}
}

// genuine compares in a time that says nothing about the secrets.
func (h *Webhook) genuine(given string) bool {
	sum, same := sha256.Sum256([]byte(given)), 0
	for _, secret := range h.secrets {
		same |= subtle.ConstantTimeCompare(sum[:], secret[:])
	}
	return same == 1
}

// take reads a post and has it stored, here or by the process on duty.
func (h *Webhook) take(w http.ResponseWriter, r *http.Request) answer {
	readWithin(w, bodyTimeout)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMost))
	if err != nil {
		return unread(err)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // see readWithin
	passed := r.Header.Get(passedHeader) != ""
	inbox, leave := h.desk.enter()
	switch {
	case inbox != nil:
		defer leave()
		return h.store(r, inbox, body)
	case passed: // never twice: two processes may take each other for the one on duty
		return again(PostFailed)
	}
	return h.passOn(r, body)
}

func unread(err error) answer {
	a := answer{what: PostMalformed, code: http.StatusBadRequest}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		a.code = http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		a.code = http.StatusRequestTimeout
	}
	return a
}

// readWithin bounds how long the connection waits for the rest of a request. One
// that cannot be bounded is none of a network.
func readWithin(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d))
}
