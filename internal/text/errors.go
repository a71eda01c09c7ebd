package text

import (
	"errors"
	"fmt"
)

var (
	// ErrEmpty is a text in which there is nothing to see: Telegram takes none. A
	// caption may be empty.
	ErrEmpty = errors.New("the text is empty or blank, and Telegram takes no such message")
	// ErrUTF8 is a text with bytes, or halves of surrogate pairs, that are no character.
	ErrUTF8 = errors.New("the text is not valid UTF-8")
	// ErrMarkup is wrapped by a MarkupError.
	ErrMarkup = errors.New("can't parse entities")
	// ErrEntities are entities that do not fit their text.
	ErrEntities = errors.New("entities must be a list of objects with an offset and a length of 0 or more")
	// ErrWhole is wrapped by the error for a text that is too long for one message
	// and cannot become several.
	ErrWhole = errors.New("the text is too long and cannot be cut")
)

// MarkupError is a mistake in HTML or MarkdownV2. It wraps ErrMarkup.
type MarkupError struct {
	// What is wrong, in words that quote nothing of the text.
	What string
	// At is where, in bytes from the start of the text as it was given.
	At int
}

// Error says what is wrong and where.
func (e *MarkupError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d", ErrMarkup, e.What, e.At)
}

// Unwrap returns ErrMarkup.
func (*MarkupError) Unwrap() error { return ErrMarkup }
