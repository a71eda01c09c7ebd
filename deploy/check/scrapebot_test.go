package check_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
)

const (
	scrapeRoot = "../.."
	// scrapeTime bounds every wait for something that must happen.
	scrapeTime = 2 * time.Minute
)

// scrapedOnce is one scrape for all tests of a run.
var scrapedOnce struct {
	sync.Mutex
	series []model.Metric
}

// scraped are the series of a durabot that has answered one message, and had one
// answer refused, on a real Temporal server. Without one the test is skipped.
func scraped(t *testing.T) []model.Metric {
	t.Helper()
	scrapedOnce.Lock()
	defer scrapedOnce.Unlock()
	if scrapedOnce.series == nil {
		scrapedOnce.series = scrapeBot(t)
	}
	return scrapedOnce.series
}

func scrapeBot(t *testing.T) []model.Metric {
	t.Helper()
	cli, err := devserver.Locate(devserver.FindOptions{Dir: scrapeRoot})
	if err != nil {
		t.Skipf("needs a Temporal dev server (make server): %v", err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "durabot")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/durabot")
	build.Dir = scrapeRoot
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	temporal, err := devserver.Start(t.Context(), devserver.Options{Path: cli, LogFile: filepath.Join(dir, "temporal.log")})
	require.NoError(t, err)
	t.Cleanup(temporal.Stop)
	sim, err := telegramsim.New(telegramsim.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sim.Close()) })
	api := httptest.NewServer(sim.Handler())
	t.Cleanup(api.CloseClientConnections)

	bot := runBot(t, program, api.URL, temporal.Addr())
	sim.SendText(1001, "hello")
	require.Eventually(t, func() bool { return len(sim.Ledger(1001)) == 1 }, scrapeTime, 20*time.Millisecond)
	sim.Fault(telegramsim.Fault{Method: "sendMessage", Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusBadRequest, Body: refusal})
	sim.SendText(1001, "hello again")
	var text string
	require.Eventually(t, func() bool {
		text = getText(t, bot+"/metrics")
		return strings.Contains(text, `outcome="rejected"`) && strings.Contains(text, "durabot_dead_open 1")
	}, scrapeTime, 200*time.Millisecond)
	return readSeries(t, text)
}

const refusal = `{"ok":false,"error_code":400,"description":"Bad Request: MESSAGE_TOO_STRANGE"}`

// runBot runs durabot until the test ends, and returns the address of its pages.
func runBot(t *testing.T, program, api, temporal string) string {
	t.Helper()
	bot := exec.CommandContext(t.Context(), program, "run", "--http", "127.0.0.1:0", "--log-format", "json")
	bot.Env = append(os.Environ(), "TELEGRAM_BOT_TOKEN="+telegramsim.DefaultToken, "TELEGRAM_API_URL="+api, "TEMPORAL_ADDRESS="+temporal)
	log, err := bot.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, bot.Start())
	t.Cleanup(func() {
		_ = bot.Process.Kill()
		_ = bot.Wait()
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			go io.Copy(io.Discard, log) //nolint:errcheck // ends with the process
			return "http://" + line.Address
		}
	}
	require.NoError(t, lines.Err())
	require.FailNow(t, "the bot does not listen")
	return ""
}

// getText fetches a page.
func getText(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url) //nolint:noctx // bounded by the process's life
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(body)
}
