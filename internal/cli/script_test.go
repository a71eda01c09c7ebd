package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/telegramsim"
	"github.com/durabot/durabot/starter"
)

// TestScripts runs the manual of the command line in testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"telegram":  startTelegram,
			"temporal":  useTemporal,
			"namespace": makeNamespace,
			"webhook":   setWebhook,
			"say":       say,
			"block":     block,
			"reported":  reported,
			"refuse":    refuse,
			"letters":   letters,
		},
		Condition: func(name string) (bool, error) {
			if name != "temporal" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			path, err := temporalPath()
			return path != "", err
		},
		Setup:               installProgram,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// installProgram puts this binary on the script's PATH under the program's name.
func installProgram(env *testscript.Env) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Join(env.WorkDir, "bin")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
	return os.Symlink(self, filepath.Join(dir, program))
}

// sims are the simulators of the scripts under way, by their work directory.
var sims registry

type registry struct{ all sync.Map }

func (r *registry) put(work string, sim *telegramsim.Sim) { r.all.Store(work, sim) }

func (r *registry) get(work string) *telegramsim.Sim {
	sim, _ := r.all.Load(work)
	return sim.(*telegramsim.Sim)
}

// startTelegram starts a simulated Telegram with a bot of its own.
func startTelegram(ts *testscript.TestScript, _ bool, _ []string) {
	token := newToken()
	sim, err := telegramsim.New(telegramsim.Options{Token: token})
	ts.Check(err)
	server := httptest.NewServer(sim.Handler())
	ts.Defer(func() { server.CloseClientConnections(); server.Close(); _ = sim.Close() })
	ts.Setenv("TELEGRAM_API_URL", server.URL)
	ts.Setenv("TELEGRAM_BOT_TOKEN", token)
	ts.Setenv("BOT", token[:len("900000000")])
	sims.put(ts.Getenv("WORK"), sim)
}

// useTemporal points the script at the shared server.
func useTemporal(ts *testscript.TestScript, _ bool, _ []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // testscript has no context of its own
	defer cancel()
	server, err := sharedTemporal(ctx)
	ts.Check(err)
	ts.Setenv("TEMPORAL_ADDRESS", server.Addr())
}

// makeNamespace registers a namespace as a stranger would.
func makeNamespace(ts *testscript.TestScript, _ bool, _ []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // as above
	defer cancel()
	name := newName("bots")
	ts.Check(registerNamespace(ctx, ts.Getenv("TEMPORAL_ADDRESS"), name))
	ts.Setenv("TEMPORAL_NAMESPACE", name)
}

// setWebhook sets a webhook with the Bot API.
func setWebhook(ts *testscript.TestScript, _ bool, args []string) {
	address := ts.Getenv("TELEGRAM_API_URL") + "/bot" + ts.Getenv("TELEGRAM_BOT_TOKEN") + "/setWebhook"
	res, err := http.PostForm(address, url.Values{"url": {args[0]}})
	ts.Check(err)
	ts.Check(res.Body.Close())
}

// say writes to the bot, waits for its answer and sets UPDATE. With ! it waits
// for none.
func say(ts *testscript.TestScript, neg bool, args []string) {
	chat, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	sim := sims.get(ts.Getenv("WORK"))
	before := len(sim.Ledger(chat))
	ts.Setenv("UPDATE", strconv.FormatInt(sim.SendText(chat, args[1]), 10))
	for deadline := time.Now().Add(patience); !neg && len(sim.Ledger(chat)) == before; {
		if time.Now().After(deadline) {
			ts.Fatalf("no answer in chat %d", chat)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// block has a chat's person block the bot.
func block(ts *testscript.TestScript, _ bool, args []string) {
	chat, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	sims.get(ts.Getenv("WORK")).Block(chat)
}

// reported waits until the process on duty has told its figures.
func reported(ts *testscript.TestScript, _ bool, _ []string) {
	bot, err := strconv.ParseInt(ts.Getenv("BOT"), 10, 64)
	ts.Check(err)
	c, err := client.NewLazyClient(client.Options{HostPort: ts.Getenv("TEMPORAL_ADDRESS")})
	ts.Check(err)
	defer c.Close()
	for deadline := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		h, err := starter.DutyHolder(context.Background(), c, bot) // as above
		ts.Check(err)
		if !h.Beat.Since.IsZero() {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("nobody on duty has reported")
		}
	}
}

// refuse has Telegram refuse the next message to a chat for good.
func refuse(ts *testscript.TestScript, _ bool, args []string) {
	chat, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	sims.get(ts.Getenv("WORK")).Fault(telegramsim.Fault{
		Method: "sendMessage", ChatID: chat, Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusBadRequest,
		Body: `{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}`,
	})
}

// letters waits until so many dead letters are open: a list lags a little.
func letters(ts *testscript.TestScript, _ bool, args []string) {
	c, err := client.NewLazyClient(client.Options{HostPort: ts.Getenv("TEMPORAL_ADDRESS"), Namespace: ts.Getenv("TEMPORAL_NAMESPACE")})
	ts.Check(err)
	defer c.Close()
	query := "TaskQueue = 'durabot-" + ts.Getenv("BOT") + "' AND WorkflowType = 'DeadLetterWorkflow' AND ExecutionStatus = 'Running'"
	for deadline := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		res, err := c.CountWorkflow(context.Background(), &workflowservice.CountWorkflowExecutionsRequest{Query: query}) // as above
		ts.Check(err)
		if strconv.FormatInt(res.GetCount(), 10) == args[0] {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%d dead letters, want %s", res.GetCount(), args[0])
		}
	}
}
