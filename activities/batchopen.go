package activities

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"go.temporal.io/sdk/activity"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/text"
)

// openBatch opens a batch. Its ledger has a number, by which it is told from what
// is none.
func (s *Sender) openBatch(info activity.Info, in contract.BatchInput) (*batch, error) {
	fill, err := newFiller(in.What)
	if err != nil {
		return nil, err
	}
	b := &batch{
		Sender: s, info: info, in: in, fill: fill, width: narrowest,
		flow: s.flows.of(in.Broadcast), ended: make(chan *entry, len(in.Recipients)),
	}
	b.recorder, b.token, b.ledger.Attempt = s.Recorder, info.TaskToken, info.Attempt
	b.ledger.Batch = info.WorkflowExecution.RunID + "/" + info.ActivityID
	for _, a := range in.Recipients {
		e := &entry{batch: b, Recipient: a.Recipient, notBefore: a.NotBefore, doubtOf: a.DoubtOf}
		if a.Ledger != nil {
			e.ledger = *a.Ledger
		}
		b.open = append(b.open, e)
	}
	return b, nil
}

// filler makes up the call to a recipient.
type filler struct {
	what     contract.BroadcastCall
	params   json.RawMessage
	template *text.Template
}

func newFiller(what contract.BroadcastCall) (filler, error) {
	params, err := what.Call.Object()
	if err != nil {
		return filler{}, fmt.Errorf("params are no JSON: %w", err)
	}
	f := filler{what: what, params: params}
	if what.Template {
		f.template, err = text.ParseTemplate(params)
	}
	return f, err
}

// call is what a recipient gets.
func (f filler) call(r contract.Recipient) (contract.Call, error) {
	params := f.params
	if f.template != nil {
		var err error
		if params, err = f.template.Render(r.Fields); err != nil {
			return contract.Call{}, err
		}
	}
	c := f.what.Call
	c.Params, c.Priority = addressed(params, r.Chat), contract.Bulk
	return c, nil
}

// addressed puts the chat in front of the parameters, which name none.
func addressed(params json.RawMessage, chat string) json.RawMessage {
	id := chat
	if _, err := strconv.ParseInt(chat, 10, 64); err != nil {
		id = strconv.Quote(chat)
	}
	rest := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(params), []byte("{")))
	if rest[0] != '}' {
		rest = append([]byte{','}, rest...)
	}
	return append([]byte(`{"chat_id":`+id), rest...)
}
