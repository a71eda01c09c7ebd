package e2e_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
)

// patience bounds every wait for something that must happen. It is no promise,
// only the point at which a test gives up.
const patience = 90 * time.Second

var (
	worlds  atomic.Int64
	secrets struct {
		sync.Mutex
		all []string
	}
)

// world is one bot's world: a Telegram of its own and its part of the shared
// Temporal server, told from the others by the bot's id.
type world struct {
	*telegramsim.Sim
	t        *testing.T
	bot      int64
	token    string
	api      string // the Bot API's address
	doors    *doors // of its processes, to the Bot API
	dir      string
	handled  string   // the file of the handler's runs
	env      []string // what its processes are told beside the usual
	temporal client.Client
	address  string       // of its Temporal server
	keys     atomic.Int64 // of messages, the last one given
}

// newWorld returns a world whose Telegram has no limits unless told.
func newWorld(t *testing.T, change ...func(*telegramsim.Options)) *world {
	t.Helper()
	n := worlds.Add(1)
	bot := 710_000_000 + n
	token := newToken(bot)
	o := telegramsim.Options{Token: token, Seed: n, Limits: telegramsim.Limits{Off: true}}
	for _, c := range change {
		c(&o)
	}
	sim, err := telegramsim.New(o)
	require.NoError(t, err)
	w := &world{Sim: sim, t: t, bot: bot, token: token, dir: filepath.Join(shared.dir, strconv.FormatInt(bot, 10))}
	require.NoError(t, os.MkdirAll(w.dir, 0o700))
	w.handled = filepath.Join(w.dir, "handled")
	w.serve()
	w.dial(shared.temporal.Addr())
	return w
}

// dial has the world look at the Temporal server at an address.
func (w *world) dial(addr string) {
	w.t.Helper()
	w.address = addr
	var err error
	w.temporal, err = client.Dial(client.Options{HostPort: addr, Logger: sdklog.NewStructuredLogger(discard)})
	require.NoError(w.t, err)
	w.t.Cleanup(w.temporal.Close)
}

// ownServer starts a Temporal server for this world alone, which its test stops.
func (w *world) ownServer() *devserver.Server {
	w.t.Helper()
	server, err := devserver.Start(w.t.Context(), devserver.Options{
		Path: shared.cli, DBFile: filepath.Join(w.dir, "temporal.db"), LogFile: filepath.Join(w.dir, "temporal.log"),
	})
	require.NoError(w.t, err)
	w.dial(server.Addr())
	return server
}

// newToken makes up a token for a bot and has it looked for at the end.
func newToken(bot int64) string {
	secrets.Lock()
	defer secrets.Unlock()
	secret := fmt.Sprintf("AAE2E-secret-%d-%s", len(secrets.all), strings.Repeat("x", 20))
	secrets.all = append(secrets.all, secret)
	return fmt.Sprintf("%d:%s", bot, secret)
}

// telegramsLimits makes a world's Telegram enforce what the real one is known for.
func telegramsLimits(o *telegramsim.Options) {
	o.Limits, o.Latency = telegramsim.Limits{}, 40*time.Millisecond
}

func (w *world) serve() {
	listener, err := new(net.ListenConfig).Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(w.t, err)
	w.doors = &doors{telegram: w.Handler()}
	server := &http.Server{Handler: w.doors, ReadHeaderTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // ends with Close
	w.t.Cleanup(func() {
		_ = server.Close()
		_ = w.Close()
	})
	w.api = "http://" + listener.Addr().String()
}

// eventually waits until ok, or fails the test with what was awaited.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	require.Eventually(w.t, ok, patience, 20*time.Millisecond, what)
}

// pass waits until a time has come, for promises about how long something lasts.
func (w *world) pass(until time.Time) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return !time.Now().Before(until) }, time.Until(until)+patience, 20*time.Millisecond)
}

// texts are the bot's accepted messages in a chat, in order.
func (w *world) texts(chat int64) []string {
	var all []string
	for _, m := range w.Ledger(chat) {
		all = append(all, m.Text)
	}
	return all
}

// last is the bot's newest message in a chat, "" for none.
func (w *world) last(chat int64) string {
	texts := w.texts(chat)
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// replies are those to "many n".
func replies(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("re: %d of %d", i+1, n))
	}
	return all
}

// runs are the update ids for which the handler ran, in the order of its runs.
func (w *world) runs() []int64 {
	data, err := os.ReadFile(w.handled)
	if err != nil {
		return nil
	}
	var ids []int64
	for line := range strings.FieldsSeq(string(data)) {
		id, err := strconv.ParseInt(line, 10, 64)
		require.NoError(w.t, err)
		ids = append(ids, id)
	}
	return ids
}

// calls are the requests of one method, in order of arrival.
func (w *world) calls(method string) []telegramsim.Request {
	var all []telegramsim.Request
	for _, r := range w.Requests() {
		if strings.EqualFold(r.Method, method) {
			all = append(all, r)
		}
	}
	return all
}

// ended waits for a workflow to end, reads its result, and returns its failure if
// it failed: a failed one's result stands in its failure.
func (w *world) ended(workflow string, result any) error {
	w.t.Helper()
	err := w.temporal.GetWorkflow(w.t.Context(), workflow, "").Get(w.t.Context(), result)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		_ = app.Details(result)
	}
	return err
}

// update waits for an update's workflow to be started and to end, and returns
// its result, and its failure if it failed.
func (w *world) update(id int64) (contract.UpdateResult, error) {
	w.t.Helper()
	workflow := contract.UpdateID(w.bot, id)
	w.eventually(workflow+" is started", func() bool {
		_, err := w.temporal.DescribeWorkflow(w.t.Context(), workflow, "")
		return err == nil
	})
	var res contract.UpdateResult
	err := w.ended(workflow, &res)
	return res, err
}

// confirmed waits until Telegram has nothing left to deliver.
func (w *world) confirmed() {
	w.t.Helper()
	w.eventually("every update is confirmed", func() bool { return w.Pending() == 0 })
}
