package starter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

const bot = 77

// started is one workflow that the fake server took.
type started struct {
	opts client.StartWorkflowOptions
	kind any
	in   contract.UpdateInput
	dead contract.DeadInput // of a dead letter, which has no in
	raw  string
	at   time.Time
}

// server is a Temporal that knows started workflows by their IDs, and never
// forgets one.
type server struct {
	mu    sync.Mutex
	byID  map[string]started
	order []string
	asked int

	// before is called ahead of each start, outside the lock.
	before func(id string) error
	// after is called once the server has the workflow: an error is a lost answer.
	after func(id string) error
	// describe, when set, answers in place of the server.
	describe func(id string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	list     func(r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

func newServer() *server { return &server{byID: map[string]started{}} }

func (s *server) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	if s.before != nil {
		if err := s.before(o.ID); err != nil {
			return nil, err
		}
	}
	if err := s.take(o, workflow, args); err != nil {
		return nil, err
	}
	if s.after != nil {
		return nil, s.after(o.ID)
	}
	return nil, nil //nolint:nilnil // the inbox does not look at the run
}

func (s *server) take(o client.StartWorkflowOptions, workflow any, args []any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if _, ok := s.byID[o.ID]; ok {
		return serviceerror.NewWorkflowExecutionAlreadyStarted("already started", "", "")
	}
	w := started{opts: o, kind: workflow, raw: string(args[1].(converter.RawValue).Payload().GetData()), at: time.Now()}
	if dead, ok := args[0].(contract.DeadInput); ok {
		w.dead = dead
	} else {
		w.in = args[0].(contract.UpdateInput)
	}
	s.byID[o.ID] = w
	s.order = append(s.order, o.ID)
	return nil
}

func (s *server) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if s.describe != nil {
		return s.describe(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.byID[id]
	if !ok {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: execution(id, w.opts.Memo, w.at),
	}, nil
}

func (s *server) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return s.list(r)
}

func (s *server) get(t *testing.T, update int64) started {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.byID[contract.UpdateID(bot, update)]
	require.True(t, ok, "update %d is not started", update)
	return w
}

func (s *server) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.order...)
}

func execution(id string, memo map[string]any, at time.Time) *workflowpb.WorkflowExecutionInfo {
	fields := map[string]*commonpb.Payload{}
	for key, value := range memo {
		fields[key], _ = converter.GetDefaultDataConverter().ToPayload(value)
	}
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id},
		StartTime: timestamppb.New(at), Memo: &commonpb.Memo{Fields: fields},
	}
}

// counts remembers what it is told.
type counts struct {
	mu                     sync.Mutex
	stored                 []string
	duplicate, undecodable int
}

func (c *counts) Stored(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored = append(c.stored, kind)
}

func (c *counts) Duplicate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.duplicate++
}

func (c *counts) Undecodable() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undecodable++
}

// lines is a log that can be read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) count(text string) int { return strings.Count(l.String(), text) }

// bundle is an inbox over fakes.
type bundle struct {
	server *server
	counts *counts
	log    *lines
	tails  *starter.Tails
	inbox  *starter.Inbox
	done   sync.Map // workflow IDs that are finished
}

func setup(settings starter.Settings) *bundle {
	b := &bundle{server: newServer(), counts: &counts{}, log: &lines{}}
	settings.BotID = bot
	b.tails = starter.NewTails(func(id string) bool { _, ok := b.done.Load(id); return ok })
	b.inbox = starter.NewInbox(b.server, settings, b.tails, b.counts, slog.New(slog.NewTextHandler(b.log, nil)))
	return b
}

// message is an update of a chat; chat 0 makes one that belongs to none.
func message(id, chat int64) json.RawMessage {
	if chat == 0 {
		return json.RawMessage(fmt.Sprintf(`{"update_id":%d,"poll":{"id":"p"}}`, id))
	}
	return json.RawMessage(fmt.Sprintf(`{"update_id":%d,"message":{"message_id":1,"date":1700000000,"chat":{"id":%d},"text":"secret words"}}`, id, chat))
}

func batch(raw ...json.RawMessage) []json.RawMessage { return raw }

func id(update int64) string { return contract.UpdateID(bot, update) }
