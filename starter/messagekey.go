package starter

import (
	"fmt"
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// keyMost is the longest key in characters. Temporal takes workflow IDs of up to
// 1000 bytes, and a character is four bytes at most.
const keyMost = 200

// ofHandler are the keys that durabot gives to the calls of a handler. Taken by
// somebody else, such a call would be held for a duplicate and never be made.
var ofHandler = regexp.MustCompile(`^update-[0-9]+-[0-9]+$`)

// newKey is a key that nothing else has; later ones sort behind it.
func newKey() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// CheckKey refuses a key that cannot stand in a workflow ID, which people read
// in logs, tables and addresses. The empty key is none, and passes.
func CheckKey(key string) error {
	if err := checkName("key", key); err != nil {
		return err
	}
	if ofHandler.MatchString(key) {
		return fmt.Errorf("key: %s is of the form that calls of a handler get: choose another", key)
	}
	return nil
}

// CheckAfter refuses what cannot be the key of a message to wait for: no key at
// all, or the waiting message's own. The empty one is none, and passes.
func CheckAfter(after, key string) error {
	if after != "" && after == key {
		return fmt.Errorf("after: %s is the message itself: name the one before it", after)
	}
	return checkName("after", after)
}

func checkName(what, key string) error {
	if n := utf8.RuneCountInString(key); n > keyMost {
		return fmt.Errorf("%s: want at most %d characters, got %d", what, keyMost, n)
	}
	if !utf8.ValidString(key) {
		return fmt.Errorf("%s: it is no UTF-8", what)
	}
	for _, r := range key {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%s: %+q cannot be printed", what, r)
		}
	}
	return nil
}
