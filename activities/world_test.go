package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

const chat = 42

var silent = slog.New(slog.DiscardHandler)

// world is a sender with everything around it: Telegram, the budget and the
// server that keeps the ledger.
type world struct {
	*activities.Sender
	api      *fakeAPI
	budget   *fakeBudget
	chats    *fakeChats // known to the sender by knowChats only
	recorder *fakeRecorder
	answers  *activities.Answers
	cut      context.CancelFunc // ends the requests in the air
	tokens   []bool             // what Unauthorized was told
}

func newWorld(t *testing.T) *world {
	t.Helper()
	stop, cut := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cut)
	w := &world{
		api: &fakeAPI{}, budget: &fakeBudget{}, chats: &fakeChats{}, recorder: &fakeRecorder{},
		answers: activities.NewAnswers(), cut: cut,
	}
	w.Sender = activities.NewSender(stop, w.api, w.budget, w.recorder, w.answers)
	var mu sync.Mutex
	w.Unauthorized = func(refused bool) {
		mu.Lock()
		defer mu.Unlock()
		w.tokens = append(w.tokens, refused)
	}
	return w
}

// knowChats lets the sender know the chats.
func (w *world) knowChats() *world {
	w.Chats = w.chats
	return w
}

// message is a call as it arrives in an activity.
func message() contract.SendInput {
	return contract.SendInput{
		Call:     contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"chat_id":42,"text":"hello"}`)},
		Deadline: time.Now().Add(24 * time.Hour),
	}
}

func atMostOnce() contract.SendInput {
	in := message()
	in.Call.Delivery = contract.AtMostOnce
	return in
}

// attempt runs one attempt of the call named after the test, with the ledger
// that the server holds by now.
func (w *world) attempt(t *testing.T, n int32, in contract.SendInput) (contract.CallResult, error) {
	t.Helper()
	return w.attemptIn(t, n, in, func(ctx context.Context) context.Context { return ctx })
}

// attemptIn is attempt with a context that the test may end.
func (w *world) attemptIn(t *testing.T, n int32, in contract.SendInput, in2 func(context.Context) context.Context) (res contract.CallResult, err error) {
	t.Helper()
	token := "attempt " + strconv.Itoa(int(n))
	a := &attempt{n: n, token: token}
	if l := w.recorder.last(); l != nil {
		a.details = *l
	}
	inActivity(t, a, func(ctx context.Context) {
		res, err = w.Send(in2(ctx), in)
	})
	return res, err
}

// inActivity runs fn in the context of an activity.
func inActivity(t *testing.T, a *attempt, fn func(context.Context)) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(silent))
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{a}})
	run := func(ctx context.Context) error {
		a.live = true // the environment itself looks its own token up before
		fn(ctx)
		return nil
	}
	env.RegisterActivityWithOptions(run, activity.RegisterOptions{Name: "run"})
	_, err := env.ExecuteActivity("run")
	require.NoError(t, err)
}

// attempt is what an activity is told of itself.
type attempt struct {
	interceptor.WorkerInterceptorBase
	interceptor.ActivityInboundInterceptorBase
	interceptor.ActivityOutboundInterceptorBase
	n       int32
	token   string
	call    string // its activity's ID, "" for the usual one
	details any    // of the last heartbeat, nil for none
	beats   int
	live    bool
}

func (a *attempt) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	a.ActivityInboundInterceptorBase.Next = next
	return inbound{a}
}

// inbound only puts the attempt in front of what the activity asks.
type inbound struct{ *attempt }

func (i inbound) Init(out interceptor.ActivityOutboundInterceptor) error {
	i.ActivityOutboundInterceptorBase.Next = out
	return i.ActivityInboundInterceptorBase.Next.Init(i.attempt)
}

func (i inbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	return i.ActivityInboundInterceptorBase.Next.ExecuteActivity(ctx, in)
}

func (a *attempt) GetInfo(ctx context.Context) activity.Info {
	info := a.ActivityOutboundInterceptorBase.GetInfo(ctx)
	if !a.live {
		return info
	}
	info.Attempt, info.TaskToken = a.n, []byte(a.token)
	info.WorkflowExecution.RunID, info.ActivityID = "run", "call"+a.call
	return info
}

func (a *attempt) HasHeartbeatDetails(context.Context) bool { return a.details != nil }

func (a *attempt) GetHeartbeatDetails(_ context.Context, d ...any) error {
	payload, err := converter.GetDefaultDataConverter().ToPayloads(a.details)
	if err != nil {
		return err
	}
	return converter.GetDefaultDataConverter().FromPayloads(payload, d...)
}

func (a *attempt) RecordHeartbeat(context.Context, ...any) { a.beats++ }

// fakeAPI answers requests from a script, then with a message.
type fakeAPI struct {
	mu       sync.Mutex
	requests []request
	script   []error
	wait     func(ctx context.Context) error // before each answer, nil for none
	names    map[string]string               // which chats public names are of
	asked    []string                        // the names it was asked for, which are no requests here
}

type request struct{ method, params string }

func (f *fakeAPI) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == "getChat" && strings.Contains(string(params), `"@`) {
		return f.chat(params)
	}
	f.mu.Lock()
	f.requests = append(f.requests, request{method, string(params)})
	n, wait := len(f.requests), f.wait
	var err error
	if n <= len(f.script) {
		err = f.script[n-1]
	}
	f.mu.Unlock()
	if wait != nil {
		if cut := wait(ctx); cut != nil {
			return nil, cut
		}
	}
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"message_id":7}`), nil
}

func (f *fakeAPI) chat(params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		ChatID string `json:"chat_id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, p.ChatID)
	switch answer := f.names[p.ChatID]; answer {
	case "":
		return nil, &telegram.Error{Method: "getChat", Status: 400, Code: 400, Description: "Bad Request: chat not found", Written: true}
	case "away":
		return nil, &telegram.Error{Method: "getChat", Status: 502, Written: true}
	case "flood":
		return nil, &telegram.Error{Method: "getChat", Status: 429, Code: 429, RetryAfter: time.Minute, Written: true}
	default:
		return json.RawMessage(`{"id":` + answer + `}`), nil
	}
}

func (f *fakeAPI) sent() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request(nil), f.requests...)
}

// fakeBudget grants at once unless told otherwise.
type fakeBudget struct {
	mu                    sync.Mutex
	wants                 []activities.Want
	looks                 []activities.Want // for the chat of a name
	penalties             []penalty
	moves                 [][2]int64
	done, lost, cancelled int
	acquire               func(ctx context.Context) error
	fallen                int    // how many grants do not stand
	settled               func() // before a grant counts, nil for nothing
	withdrawn             func() // before a grant is given back, nil for nothing
}

type penalty struct {
	chat   int64
	method string
	until  time.Time
}

func (f *fakeBudget) Acquire(ctx context.Context, w activities.Want) (activities.Grant, error) {
	f.mu.Lock()
	if w.Method == "getChat" && w.Chat == 0 {
		f.looks = append(f.looks, w)
		f.mu.Unlock()
		return grant{&fakeBudget{}}, nil
	}
	f.wants = append(f.wants, w)
	acquire := f.acquire
	f.mu.Unlock()
	if acquire != nil {
		if err := acquire(ctx); err != nil {
			return nil, err
		}
	}
	return grant{f}, nil
}

func (f *fakeBudget) Penalize(chat int64, method string, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.penalties = append(f.penalties, penalty{chat, method, until})
}

func (f *fakeBudget) Move(from, to int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moves = append(f.moves, [2]int64{from, to})
}

type grant struct{ *fakeBudget }

func (g grant) Stands() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fallen--
	return g.fallen < 0
}

func (g grant) Done() {
	if g.settled != nil {
		g.settled()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done++
}

func (g grant) Lost() {
	g.mu.Lock()
	g.lost++
	g.mu.Unlock()
	g.Done()
}

func (g grant) Cancel() {
	if g.withdrawn != nil {
		g.withdrawn()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cancelled++
}

// paced is the budget's way to say "come back later".
type paced struct {
	in     time.Duration
	method bool
}

func (p paced) Error() string          { return "paced" }
func (p paced) RetryIn() time.Duration { return p.in }
func (p paced) MethodOnly() bool       { return p.method }

// fakeRecorder is the server's memory of one call.
type fakeRecorder struct {
	mu      sync.Mutex
	ledgers []contract.Ledger
	tokens  []string
	fail    func(token string, l contract.Ledger) error
}

func (f *fakeRecorder) RecordActivityHeartbeat(ctx context.Context, token []byte, details ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := details[0].(contract.Ledger)
	if f.fail != nil {
		if err := f.fail(string(token), l); err != nil {
			return err
		}
	}
	f.ledgers, f.tokens = append(f.ledgers, l), append(f.tokens, string(token))
	return nil
}

func (f *fakeRecorder) last() *contract.Ledger {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ledgers) == 0 {
		return nil
	}
	l := f.ledgers[len(f.ledgers)-1]
	return &l
}

func (f *fakeRecorder) writes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ledgers)
}

// direct is the error that Send returned, which must be Temporal's own type and
// not something that wraps it.
func direct(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	app, ok := err.(*temporal.ApplicationError) //nolint:errorlint // wrapped, the SDK would not see it
	require.True(t, ok, "want *temporal.ApplicationError itself, got %T: %v", err, err)
	return app
}

func detail(t *testing.T, app *temporal.ApplicationError) contract.CallResult {
	t.Helper()
	var res contract.CallResult
	require.NoError(t, app.Details(&res))
	return res
}

// answered is a refusal in Telegram's own words.
func answered(code int, text string) *telegram.Error {
	return &telegram.Error{Method: "sendMessage", Status: code, Code: code, Description: text, Written: true}
}

func limited(wait time.Duration) *telegram.Error {
	e := answered(429, "Too Many Requests: retry after "+strconv.Itoa(int(wait.Seconds())))
	e.RetryAfter = wait
	return e
}

func migrated(to int64) *telegram.Error {
	e := answered(400, "Bad Request: group chat was upgraded to a supergroup chat")
	e.MigrateToChatID = to
	return e
}

// page is the HTML of a gateway.
func page(code int) *telegram.Error {
	return &telegram.Error{Method: "sendMessage", Status: code, Written: true, Err: telegram.ErrNotAnswer}
}

var (
	refused = &telegram.Error{Method: "sendMessage", Err: syscall.ECONNREFUSED}
	reset   = &telegram.Error{Method: "sendMessage", Written: true, Err: syscall.ECONNRESET}
	cutBody = &telegram.Error{Method: "sendMessage", Status: 200, Written: true, Err: io.ErrUnexpectedEOF}
	errAway = errors.New("temporal is away")
)
