package telegramsim_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestStateSurvivesARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opts := telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "sim.json"), NoPollRules: true}
		before := newSim(t, opts)
		first := before.SendText(1001, "confirmed")
		before.SendText(1001, "pending")
		text(t, before, 1001)
		direct(t, before, "editMessageText", params{"chat_id": 1001, "message_id": 3, "text": "edited"})
		direct(t, before, "getUpdates", params{"offset": first + 1, "allowed_updates": []string{"message", "callback_query", "my_chat_member"}})
		before.Push([]byte(`{"callback_query":{"id":"555"}}`))
		before.SendText(-5, "group")
		moved := before.Migrate(-5)
		before.Block(1001)
		before.Penalise(1002, time.Hour)
		before.Push([]byte(`{"update_id":3,"message":{}}`))
		require.NoError(t, before.Close())

		after := newSim(t, opts)
		require.Equal(t, before.Confirmed(), after.Confirmed())
		require.Equal(t, before.Pending(), after.Pending())
		require.Equal(t, before.Chats(), after.Chats())
		require.Equal(t, moved, after.Migrate(-5))
		require.Equal(t, []string{"edited"}, texts(after.Ledger(0)))
		require.Len(t, after.Ledger(0)[0].Edits, 1)
		require.Equal(t, 403, text(t, after, 1001).Code)
		require.True(t, direct(t, after, "answerCallbackQuery", params{"callback_query_id": "555"}).OK)
		require.Zero(t, after.Push([]byte(`{"poll":{}}`)), "allowed_updates are kept")
		want := direct(t, before, "getUpdates", nil)
		require.Equal(t, string(want.Result), string(direct(t, after, "getUpdates", nil).Result))

		after.Unblock(1001)
		require.True(t, text(t, after, 1001).OK)
		require.Equal(t, int64(4), after.Ledger(1001)[1].ID, "message ids go on")
		after.SendText(1002, "/start")
		time.Sleep(time.Minute)
		require.Equal(t, 429, text(t, after, 1002).Code, "penalties are kept")
	})
}

func TestWhatWasAnsweredIsInTheStateFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sim.json")
	sim := newSim(t, telegramsim.Options{StateFile: file, Limits: telegramsim.Limits{Off: true}})
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	bot := server.URL + "/bot" + sim.Token()
	for i := range 20 {
		said, answered := fmt.Sprintf("said %d", i), fmt.Sprintf("answered %d", i)
		post(t, server.URL+"/sim/api/chats/1001/send", `{"text":"`+said+`"}`)
		require.Contains(t, kept(t, file), said)
		post(t, bot+"/sendMessage", `{"chat_id":1001,"text":"`+answered+`"}`)
		require.Contains(t, kept(t, file), answered)
		id := sim.Push([]byte(`{"poll":{"id":"` + said + `"}}`))
		require.Contains(t, post(t, bot+"/getUpdates", fmt.Sprintf(`{"offset":%d}`, id)), said)
		require.Contains(t, kept(t, file), fmt.Sprintf(`"next":%d`, id+1), "its id must not come again")
	}
	require.NotContains(t, kept(t, file), sim.Token())
	files, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing temporary is left")
}

func TestAStateFileThatCannotBeWrittenDelaysAnAnswerByAQuarterOfASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, err := telegramsim.New(telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "missing", "sim.json")})
		require.NoError(t, err)
		defer sim.Close()
		sim.SendText(1001, "hello")
		began := time.Now()
		require.True(t, text(t, sim, 1001).OK)
		require.Equal(t, 250*time.Millisecond, time.Since(began))
	})
}

// post sends JSON and returns the answer.
func post(t *testing.T, url, body string) string {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:gosec,noctx // the test's own server
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", raw)
	return string(raw)
}

// kept is what a process that is started now would find.
func kept(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(raw)
}

func TestBrokenStateFileIsAnErrorNotAFreshStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sim.json")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	_, err := telegramsim.New(telegramsim.Options{StateFile: file})
	require.ErrorContains(t, err, "load simulator state")
	_, err = telegramsim.New(telegramsim.Options{Token: "no bot id"})
	require.Error(t, err)
}

func TestCloseReportsAStateItCouldNotWrite(t *testing.T) {
	t.Parallel()
	sim, err := telegramsim.New(telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "missing", "sim.json")})
	require.NoError(t, err)
	require.ErrorContains(t, sim.Close(), "write simulator state")
}

func TestCloseEndsWaitingRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		waiting := poll(t, sim, params{"timeout": 50})
		synctest.Wait()
		require.NoError(t, sim.Close())
		require.Equal(t, 500, (<-waiting).Code)
	})
}
