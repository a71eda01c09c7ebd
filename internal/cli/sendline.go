package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// line is a message in a file. Its fields are the flags of the same names.
type line struct {
	Chat           json.RawMessage `json:"chat"`
	Text           *string         `json:"text"`
	Method         *string         `json:"method"`
	Params         json.RawMessage `json:"params"`
	Key            *string         `json:"key"`
	Priority       *string         `json:"priority"`
	Delivery       *string         `json:"delivery"`
	TTL            *string         `json:"ttl"`
	At             *string         `json:"at"`
	In             *string         `json:"in"`
	Split          *bool           `json:"split"`
	PlainFallback  *bool           `json:"plain_fallback"`
	After          *string         `json:"after"`
	AfterDelivered *bool           `json:"after_delivered"`
}

// lineField is a flag's name as a line spells it.
func lineField(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// parseLine is the message that a line asks for. No error quotes what it says.
func parseLine(data []byte, defaults order) (starter.Message, error) {
	if _, err := object(data); err != nil {
		return starter.Message{}, err
	}
	var l line
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return starter.Message{}, fieldError(err)
	}
	o, err := l.order(defaults)
	if err != nil {
		return starter.Message{}, err
	}
	return o.message()
}

// fieldError is an error of decoding in words of ours.
func fieldError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(wrong.Value, " ") // behind it stands what was found
		return fmt.Errorf("%s: want a %s, got a %s", wrong.Field, wrong.Type, kind)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// order is what the line asks for, and the defaults for what it does not say.
func (l line) order(o order) (order, error) {
	named, byDefault := map[string]bool{"params": len(l.Params) > 0, "ttl": l.TTL != nil}, o.given
	o.given = func(field string) bool { return named[field] || byDefault(field) }
	for _, f := range []struct {
		name      string
		to, value *string
	}{{"text", &o.text, l.Text}, {"method", &o.method, l.Method}, {"key", &o.key, l.Key}, {"at", &o.at, l.At}, {"after", &o.after, l.After}} {
		if f.value != nil {
			*f.to, named[f.name] = *f.value, true
		}
	}
	o.params = string(l.Params)
	if len(l.Chat) > 0 && json.Unmarshal(l.Chat, &o.chat) != nil {
		o.chat = string(l.Chat)
	}
	setBool(&o.split, l.Split)
	setBool(&o.plain, l.PlainFallback)
	setBool(&o.delivered, l.AfterDelivered)
	return o, errors.Join(
		o.setTime("ttl", &o.ttl, l.TTL), o.setTime("in", &o.in, l.In),
		o.setWord("priority", &o.priority, l.Priority), o.setWord("delivery", &o.delivery, l.Delivery),
	)
}

func setBool(to, value *bool) {
	if value != nil {
		*to = *value
	}
}

func (o *order) setTime(field string, to *time.Duration, value *string) error {
	if value == nil {
		return nil
	}
	d, err := time.ParseDuration(*value)
	if err != nil {
		return o.fault(field, "want a duration such as 24h or 90s, got %q", *value)
	}
	*to = d
	return nil
}

func (o *order) setWord(field string, to **choice, value *string) error {
	if value == nil {
		return nil
	}
	word := &choice{words: (*to).words}
	if err := word.Set(*value); err != nil {
		return o.fault(field, "%w, got %q", err, *value)
	}
	*to = word
	return nil
}

// ordinals tell equal lines of a file apart.
type ordinals map[[16]byte]int

// key is that of a line which names none. It comes from what the line says, and
// from how many such lines were before it: the same file has the same keys, and
// sent again it sends nothing twice.
func (o ordinals) key(data []byte) (string, error) {
	hash, err := contract.CanonicalHash(data)
	if err != nil {
		return "", err
	}
	var short [16]byte
	if _, err := hex.Decode(short[:], []byte(hash[:32])); err != nil {
		return "", err
	}
	key := "line-" + hash[:32]
	if o[short]++; o[short] > 1 {
		key += "-" + strconv.Itoa(o[short])
	}
	return key, nil
}
