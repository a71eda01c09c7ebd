package cli

import (
	"context"
	"errors"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// try sends what the first recipient gets to another chat, as a message by itself.
func (l *launch) try(ctx context.Context, format *choice) error {
	m, err := l.sample()
	if err != nil {
		return err
	}
	told, err := l.send(ctx, l.frontend, l.bot, m, true)
	if told.WorkflowID == "" {
		return err
	}
	return errors.Join(err, l.answer(format, told.json(), told.write))
}

func (l *launch) sample() (starter.Message, error) {
	m := starter.Message{Call: l.broadcast.What.Call}
	m.Call.Priority = contract.Normal
	raw, err := rendered(l.broadcast.What, l.broadcast.Recipients[0])
	if err != nil {
		return m, err
	}
	params, err := object(raw)
	if err != nil {
		return m, err
	}
	if params["chat_id"], err = chatParam(l.flags.test); err != nil {
		return m, err
	}
	m.Call.Params, err = unescaped(params)
	return m, err
}
