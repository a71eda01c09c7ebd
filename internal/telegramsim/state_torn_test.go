package telegramsim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// keep is a simulator that wrote its state into file and ended.
func keep(t *testing.T, file string, live func(sim *telegramsim.Sim)) telegramsim.Options {
	t.Helper()
	opts := open(telegramsim.Options{StateFile: file, NoPollRules: true})
	sim := newSim(t, opts)
	live(sim)
	require.NoError(t, sim.Close())
	return opts
}

// TestATornStateFileIsNeverTakenForAWholeOne cuts a file at every length: each
// cut is an error that names the file's role, and the file stays as it was.
func TestATornStateFileIsNeverTakenForAWholeOne(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sim.json")
	opts := keep(t, file, func(sim *telegramsim.Sim) { sim.SendText(1001, "hello") })
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for length := range len(whole) {
		require.NoError(t, os.WriteFile(file, whole[:length], 0o600))
		_, err := telegramsim.New(opts)
		require.ErrorContains(t, err, "load simulator state", "cut at %d", length)
		left, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(whole[:length]), string(left), "what is left may help somebody")
	}
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	require.Len(t, newSim(t, opts).Messages(1001), 1)
}

func TestAStateOfAnotherShapeIsAnError(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty":          "",
		"a list":         "[]",
		"text":           `"state"`,
		"wrong types":    `{"next":"soon"}`,
		"trailing bytes": `{"next":5}{"next":6}`,
		"broken chat":    `{"chats":[{"chat":{"ID":"x"}}]}`,
		"binary":         "\x00\x01\x02",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "sim.json")
			require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
			_, err := telegramsim.New(telegramsim.Options{StateFile: file})
			require.ErrorContains(t, err, "load simulator state")
		})
	}
}

func TestAStateFileThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	_, err := telegramsim.New(telegramsim.Options{StateFile: t.TempDir()})
	require.ErrorContains(t, err, "load simulator state", "a folder is no state")
}

func TestAMissingStateFileIsAFirstStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sim.json")
	sim := newSim(t, telegramsim.Options{StateFile: file})
	require.Empty(t, sim.Chats())
	require.NoError(t, sim.Close())
	require.FileExists(t, file)
	require.NoError(t, sim.Close(), "closing twice is fine")
}

// TestARestartKeepsEachThingThatIsPromised looks at one part of the state at a
// time: what is said before the restart must be seen after it.
func TestARestartKeepsEachThingThatIsPromised(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		live func(t *testing.T, sim *telegramsim.Sim)
		look func(t *testing.T, sim *telegramsim.Sim) string
	}{
		{
			"pending updates",
			func(_ *testing.T, sim *telegramsim.Sim) { sim.SendText(1001, "x"); sim.PushRaw([]byte("}{")) },
			func(t *testing.T, sim *telegramsim.Sim) string {
				t.Helper()
				return fmt.Sprint(sim.Pending(), sim.Confirmed())
			},
		},
		{
			"the next update id",
			func(t *testing.T, sim *telegramsim.Sim) {
				t.Helper()
				direct(t, sim, "getUpdates", params{"offset": sim.SendText(1001, "x") + 1})
			},
			func(_ *testing.T, sim *telegramsim.Sim) string { return fmt.Sprint(sim.Confirmed()) },
		},
		{
			"strays that were served",
			func(t *testing.T, sim *telegramsim.Sim) {
				t.Helper()
				sim.Push(json.RawMessage(`{"update_id":5,"message":{}}`))
				direct(t, sim, "getUpdates", nil)
			},
			func(t *testing.T, sim *telegramsim.Sim) string {
				t.Helper()
				return fmt.Sprint(len(updateIDs(t, direct(t, sim, "getUpdates", nil))))
			},
		},
		{
			"a webhook",
			func(t *testing.T, sim *telegramsim.Sim) {
				t.Helper()
				direct(t, sim, "setWebhook", params{"url": "https://example.org/hook"})
			},
			func(t *testing.T, sim *telegramsim.Sim) string {
				t.Helper()
				return string(direct(t, sim, "getWebhookInfo", nil).Result)
			},
		},
		{
			"allowed updates",
			func(t *testing.T, sim *telegramsim.Sim) {
				t.Helper()
				direct(t, sim, "getUpdates", params{"allowed_updates": `["poll","message"]`})
			},
			func(t *testing.T, sim *telegramsim.Sim) string {
				t.Helper()
				return string(direct(t, sim, "getWebhookInfo", nil).Result)
			},
		},
		{
			"chats and their states",
			func(_ *testing.T, sim *telegramsim.Sim) {
				sim.CreateChat(telegramsim.Chat{ID: 1001, Name: "Ann", Username: "ann"})
				sim.Block(1001)
				sim.Kick(-5)
				sim.Deactivate(1002)
				sim.Migrate(-6)
			},
			func(_ *testing.T, sim *telegramsim.Sim) string { return fmt.Sprint(sim.Chats()) },
		},
		{
			"the next free private id",
			func(_ *testing.T, sim *telegramsim.Sim) { sim.CreateChat(telegramsim.Chat{}) },
			func(_ *testing.T, sim *telegramsim.Sim) string { return fmt.Sprint(len(sim.Chats())) },
		},
		{
			"texts, edits and deletions",
			func(t *testing.T, sim *telegramsim.Sim) {
				t.Helper()
				text(t, sim, 1001)
				text(t, sim, 1001)
				direct(t, sim, "editMessageText", params{"chat_id": 1001, "message_id": 1, "text": "new"})
				direct(t, sim, "deleteMessage", params{"chat_id": 1001, "message_id": 2})
			},
			func(_ *testing.T, sim *telegramsim.Sim) string {
				list := sim.Ledger(1001)
				return fmt.Sprint(list[0].Text, len(list[0].Edits), list[1].Deleted.IsZero(), list[1].Seq)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opts := open(telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "sim.json"), NoPollRules: true})
			before := newSim(t, opts)
			c.live(t, before)
			want := c.look(t, before)
			require.NoError(t, before.Close())
			require.Equal(t, want, c.look(t, newSim(t, opts)))
		})
	}
}

func TestARestartForgetsWhatBelongsToOneProcess(t *testing.T) {
	t.Parallel()
	opts := keep(t, filepath.Join(t.TempDir(), "sim.json"), func(sim *telegramsim.Sim) {
		sim.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus})
		sim.SetLimits(telegramsim.Limits{PerChat: 1})
		direct(t, sim, "getUpdates", nil)
		sim.Revoke()
	})
	sim := newSim(t, opts)
	require.Empty(t, sim.Requests())
	for range 3 {
		require.True(t, text(t, sim, 1001).OK, "no fault, no revoked token, the limits of the options")
	}
}

func TestAPenaltyEndsOnTimeAcrossARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "sim.json")
		opts := keep(t, file, func(sim *telegramsim.Sim) { sim.Penalise(1001, time.Minute) })
		time.Sleep(20 * time.Second)
		sim := newSim(t, opts)
		require.Equal(t, 40, text(t, sim, 1001).Parameters.RetryAfter)
		require.Zero(t, sim.Violations(), "a caller just told is forgiven")
		time.Sleep(40 * time.Second)
		require.True(t, text(t, sim, 1001).OK)
	})
}

func TestAnsweredQueriesStayAnsweredAcrossARestart(t *testing.T) {
	t.Parallel()
	opts := keep(t, filepath.Join(t.TempDir(), "sim.json"), func(sim *telegramsim.Sim) {
		sim.Push(json.RawMessage(`{"callback_query":{"id":"1"}}`))
		sim.Push(json.RawMessage(`{"callback_query":{"id":"2"}}`))
		require.True(t, direct(t, sim, "answerCallbackQuery", params{"callback_query_id": "1"}).OK)
	})
	sim := newSim(t, opts)
	require.Equal(t, 400, direct(t, sim, "answerCallbackQuery", params{"callback_query_id": "1"}).Code)
	require.True(t, direct(t, sim, "answerCallbackQuery", params{"callback_query_id": "2"}).OK)
}

func TestTheStateFileKeepsTheNewestOfALongChat(t *testing.T) {
	t.Parallel()
	opts := keep(t, filepath.Join(t.TempDir(), "sim.json"), func(sim *telegramsim.Sim) {
		for n := range 5003 {
			sim.SendText(1001, fmt.Sprint(n))
		}
	})
	sim := newSim(t, opts)
	list := sim.Messages(1001)
	require.Len(t, list, 5000)
	require.Equal(t, "3", list[0].Text)
	sim.SendText(1001, "next")
	require.Equal(t, int64(5004), sim.Messages(1001)[5000].ID)
}

func TestNoSecretIsInTheStateFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sim.json")
	keep(t, file, func(sim *telegramsim.Sim) {
		sim.SendFile(1001, "a.txt", []byte("bytes-of-a-file"))
		text(t, sim, 1001)
	})
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "SIM-secret")
	require.NotContains(t, string(raw), "bytes-of-a-file")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "chats are nobody else's")
}

func TestAChangeDuringAWriteIsWrittenToo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sim.json")
	sim := newSim(t, telegramsim.Options{StateFile: file})
	for n := range 20 {
		want := fmt.Sprintf("change %d", n)
		sim.SendText(1001, want)
		require.Eventually(t, func() bool {
			raw, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(raw), want)
		}, soon, 10*time.Millisecond)
	}
}
