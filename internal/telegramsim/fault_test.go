package telegramsim_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// TestFaultsActBeforeOrAfterTheEffectAsNamed is the table of all kinds: what the
// client sees, and whether the message was taken.
func TestFaultsActBeforeOrAfterTheEffectAsNamed(t *testing.T) {
	t.Parallel()
	isReset := func(t *testing.T, _ *http.Response, _ []byte, err error) {
		t.Helper()
		require.True(t, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF), "%v", err)
	}
	isPage := func(t *testing.T, resp *http.Response, raw []byte, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, 502, resp.StatusCode)
		require.Equal(t, "text/html", resp.Header.Get("Content-Type"))
		require.Equal(t, telegramsim.BadGateway, string(raw))
	}
	isOK := func(t *testing.T, _ *http.Response, raw []byte, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Contains(t, string(raw), `{"ok":true,"result":{`)
	}
	for _, c := range []struct {
		fault telegramsim.Fault
		taken int
		check func(*testing.T, *http.Response, []byte, error)
	}{
		{telegramsim.Fault{Kind: telegramsim.FaultRefuse}, 0, isReset},
		{telegramsim.Fault{Kind: telegramsim.FaultRefuse, ChatID: 1001}, 0, isReset},
		{telegramsim.Fault{Kind: telegramsim.FaultStatus}, 0, isPage},
		{telegramsim.Fault{Kind: telegramsim.FaultDelay, Wait: time.Millisecond}, 1, isOK},
		{telegramsim.Fault{Kind: telegramsim.FaultReset}, 1, isReset},
		{telegramsim.Fault{Kind: telegramsim.FaultStatusAfter}, 1, isPage},
		{telegramsim.Fault{Kind: telegramsim.FaultHalfBody}, 1, func(t *testing.T, _ *http.Response, raw []byte, err error) {
			t.Helper()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.NotEmpty(t, raw)
		}},
		{telegramsim.Fault{Kind: telegramsim.FaultSlowBody, Wait: time.Microsecond}, 1, isOK},
		{telegramsim.Fault{Kind: telegramsim.FaultGarbage}, 1, func(t *testing.T, resp *http.Response, raw []byte, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, 200, resp.StatusCode)
			require.False(t, json.Valid(raw))
		}},
		{telegramsim.Fault{Kind: telegramsim.FaultDelayAfter, Wait: time.Millisecond}, 1, isOK},
	} {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "/start")
			id := b.Fault(c.fault)
			resp, raw, err := b.post("sendMessage", params{"chat_id": 1001, "text": "x"})
			c.check(t, resp, raw, err)
			require.Len(t, b.Ledger(1001), c.taken)
			require.Equal(t, id, b.Requests()[0].Fault)
		})
	}
}

func TestHangingRequestsEndWithTheirFault(t *testing.T) {
	t.Parallel()
	for kind, taken := range map[telegramsim.Kind]int{telegramsim.FaultHang: 0, telegramsim.FaultHangAfter: 1} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "/start")
			b.Fault(telegramsim.Fault{Kind: kind})
			ended := make(chan error, 1)
			go func() {
				_, _, err := b.post("sendMessage", params{"chat_id": 1001, "text": "x"})
				ended <- err
			}()
			require.Eventually(t, func() bool {
				log := b.Requests()
				return len(log) == 1 && log[0].Fault > 0 && len(b.Ledger(1001)) == taken
			}, soon, time.Millisecond)
			require.Empty(t, ended)
			b.ClearFaults()
			require.Error(t, <-ended)
		})
	}
}

func TestScriptedStatusIsSentAsWritten(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.Fault(telegramsim.Fault{
		Method: "GETUPDATES", Kind: telegramsim.FaultStatus, Status: 429, Body: `{"ok":false,"error_code":429,"description":"x"}`,
		Header: http.Header{"Retry-After": {"7"}},
	})
	e := b.call("getUpdates", nil)
	require.Equal(t, 429, e.Code)
	require.Equal(t, "7", e.Header.Get("Retry-After"))
	require.Equal(t, "application/json", e.Header.Get("Content-Type"))
	require.True(t, b.call("getMe", nil).OK, "another method")
}

func TestFaultsChooseTheirCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault telegramsim.Fault
		want  []int64
	}{
		{"the second, once", telegramsim.Fault{Nth: 2}, []int64{1001, 1001, 1002}},
		{"twice from the second", telegramsim.Fault{Nth: 2, Times: 2}, []int64{1001, 1002}},
		{"twice", telegramsim.Fault{Times: 2}, []int64{1001, 1002}},
		{"for ever", telegramsim.Fault{}, nil},
		{"one chat", telegramsim.Fault{ChatID: 1001}, []int64{1002, 1002}},
		{"another method", telegramsim.Fault{Method: "getMe"}, []int64{1001, 1002, 1001, 1002}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "/start")
			b.SendText(1002, "/start")
			c.fault.Kind = telegramsim.FaultStatus
			b.Fault(c.fault)
			for _, chat := range []int64{1001, 1002, 1001, 1002} {
				_, _, err := b.post("sendMessage", params{"chat_id": chat, "text": "x"})
				require.NoError(t, err)
			}
			var got []int64
			for _, m := range b.Ledger(0) {
				got = append(got, m.ChatID)
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}

func TestUnnamedFaultSparesGetUpdates(t *testing.T) {
	t.Parallel()
	b := free(t)
	id := b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus})
	require.True(t, b.call("getUpdates", nil).OK)
	require.True(t, b.RemoveFault(id))
	require.False(t, b.RemoveFault(id))
	require.True(t, b.call("getMe", nil).OK)
}
