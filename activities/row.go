package activities

import (
	"context"
	"errors"

	"github.com/durabot/durabot/internal/telegram"
)

const (
	// rowOfChats is how many chats must fail in a row for an outage.
	rowOfChats = 5
	// rowUnwritten is how many calls in a row must have found no connection.
	rowUnwritten = 3
)

// row is what the road swallowed since something was last answered.
type row struct {
	chats     map[int64]bool
	unwritten int  // the calls at its end of which nothing was written
	poll      bool // a poll is among it
}

// call adds a call and reports whether the failure is its own.
func (r *row) call(chat int64, written bool) (own bool) {
	if r.chats == nil {
		r.chats = map[int64]bool{}
	}
	r.chats[chat] = true
	if !written {
		r.unwritten++
		return false
	}
	r.unwritten = 0
	return len(r.chats) == 1
}

// outage reports whether the row is more than bad luck.
func (r *row) outage() bool {
	return len(r.chats) >= rowOfChats || r.unwritten >= rowUnwritten || r.poll && len(r.chats) > 0
}

// fate is how far a request and its answer came.
type fate int

const (
	// neither says nothing about the road: the request was not tried or was cut
	// by ourselves, or a gateway on the way refuses it.
	neither fate = iota
	// through: the Bot API answered.
	through
	// swallowed: the road, or a Bot API server that is out of order.
	swallowed
)

// passage reads the fate from the end of a request.
func passage(err error) fate {
	if err == nil {
		return through
	}
	te, ok := errors.AsType[*telegram.Error](err)
	_, file := errors.AsType[*telegram.FileError](err)
	switch {
	case !ok, file, errors.Is(err, telegram.ErrInvalidCall), errors.Is(err, context.Canceled):
		return neither
	case te.Code >= 400 && te.Code < 500:
		return through
	case telegram.Classify(err, te.Method) == telegram.Delivered:
		return through
	case te.Status >= 400 && te.Status < 500 && te.Code == 0:
		return neither
	default:
		return swallowed
	}
}
