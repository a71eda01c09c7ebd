package telegramsim_test

import (
	"os"
	"path/filepath"
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

func TestStateFileFollowsWithinAFifthOfASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, "sim.json")
		sim := newSim(t, telegramsim.Options{StateFile: file})
		sim.SendText(1001, "hello")
		require.NoFileExists(t, file, "writes are gathered")
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(raw), "hello")
		require.NotContains(t, string(raw), sim.Token())
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1, "nothing temporary is left")
	})
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
