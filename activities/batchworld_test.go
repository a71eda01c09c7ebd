package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// mailing is a sender of batches with Telegram and the server around it.
type mailing struct {
	*activities.Sender
	api    *crowd
	budget *fakeBudget
	server *batchServer
}

func newMailing(t *testing.T) *mailing {
	t.Helper()
	return &mailing{api: &crowd{}, budget: &fakeBudget{}, server: &batchServer{}}
}

// process is another process of the same bot.
func (m *mailing) process(t *testing.T) *mailing {
	t.Helper()
	stop, cut := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cut)
	p := *m
	p.Sender = activities.NewSender(stop, m.api, m.budget, m.server, activities.NewAnswers())
	p.Histories = m.server
	return &p
}

// send runs one batch in an activity.
func (m *mailing) send(t *testing.T, in contract.BatchInput) (res contract.BatchResult, err error) {
	t.Helper()
	number := strconv.FormatInt(m.server.batches.Add(1), 10)
	inActivity(t, &attempt{n: 1, token: "batch", call: number}, func(ctx context.Context) { res, err = m.SendBatch(ctx, in) })
	return res, err
}

// news is a batch of so many recipients, numbered from 1.
func news(n int) contract.BatchInput {
	in := contract.BatchInput{
		Broadcast: "news", Part: 1, Parts: 1, Deadline: time.Now().Add(24 * time.Hour),
		What: contract.BroadcastCall{Call: contract.Call{
			Method: "sendMessage", Params: json.RawMessage(`{"text":"hello"}`), Delivery: contract.AtMostOnce,
		}},
	}
	for i := range n {
		in.Recipients = append(in.Recipients, contract.Addressee{Recipient: contract.Recipient{Chat: strconv.Itoa(i + 1)}})
	}
	return in
}

// crowd is Telegram with many chats.
type crowd struct {
	mu     sync.Mutex
	asked  []string       // the parameters of all requests
	got    map[string]int // the messages that each chat has
	inAir  int
	most   int // in the air at once
	answer func(ctx context.Context, chat string, n int) error
}

// delivered is what a chat's answer says that it took the message and lost the
// answer.
type delivered struct{ error }

func (c *crowd) Call(ctx context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		ChatID json.RawMessage `json:"chat_id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	chat := string(p.ChatID)
	c.mu.Lock()
	c.asked = append(c.asked, string(params))
	n := len(c.asked)
	c.inAir++
	c.most = max(c.most, c.inAir)
	c.mu.Unlock()
	var err error
	if c.answer != nil {
		err = c.answer(ctx, chat, n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inAir--
	took, lost := err.(delivered) //nolint:errorlint // it is never wrapped
	if err != nil && !lost {
		return nil, err
	}
	if c.got == nil {
		c.got = map[string]int{}
	}
	if c.got[chat]++; lost {
		return nil, took.error
	}
	return json.RawMessage(fmt.Sprintf(`{"message_id":%d}`, n)), nil
}

// batchServer is the server's memory of batches, and of who the recipients are.
type batchServer struct {
	mu      sync.Mutex
	batches atomic.Int64 // so far
	ledgers []contract.BatchLedger
	fail    func(l contract.BatchLedger) error
	lost    error // is answered in place of the fact that it was written
	parts   []contract.PartInput
}

func (s *batchServer) RecordActivityHeartbeat(ctx context.Context, _ []byte, details ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := details[0].(contract.BatchLedger)
	if s.fail != nil {
		if err := s.fail(l); err != nil {
			return err
		}
	}
	data, err := json.Marshal(l) // what is written does not change any more
	if err != nil {
		return err
	}
	var kept contract.BatchLedger
	if err := json.Unmarshal(data, &kept); err != nil {
		return err
	}
	s.ledgers = append(s.ledgers, kept)
	return s.lost
}

func (s *batchServer) last() contract.BatchLedger {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ledgers) == 0 {
		return contract.BatchLedger{}
	}
	return s.ledgers[len(s.ledgers)-1]
}

// GetWorkflowHistory answers with the first event of the part that the ID ends with.
func (s *batchServer) GetWorkflowHistory(_ context.Context, id, _ string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	n, err := strconv.Atoi(id)
	if err != nil || n > len(s.parts) {
		return &oneEvent{}
	}
	input, err := converter.GetDefaultDataConverter().ToPayloads(s.parts[n-1])
	if err != nil {
		return &oneEvent{}
	}
	started := &historypb.WorkflowExecutionStartedEventAttributes{Input: input}
	return &oneEvent{&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: started,
	}}}
}

type oneEvent struct{ event *historypb.HistoryEvent }

func (o *oneEvent) HasNext() bool { return o.event != nil }

func (o *oneEvent) Next() (*historypb.HistoryEvent, error) {
	e := o.event
	o.event = nil
	return e, nil
}

// outcomes are the recipients by what became of them, and those that are left.
func outcomes(t *testing.T, in contract.BatchInput, res contract.BatchResult) map[string]int {
	t.Helper()
	seen, by := map[string]bool{}, map[string]int{}
	note := func(chat, what string) {
		require.False(t, seen[chat], "chat %s is told twice", chat)
		seen[chat] = true
		by[what]++
	}
	for _, r := range res.Results {
		note(r.Chat, r.Told())
	}
	for _, a := range res.Left {
		note(a.Chat, "left")
	}
	require.Len(t, seen, len(in.Recipients), "everybody is told")
	return by
}
