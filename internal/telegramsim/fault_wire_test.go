package telegramsim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// everyKind are all faults, and whether they act before the effect.
var everyKind = map[telegramsim.Kind]bool{
	telegramsim.FaultRefuse: true, telegramsim.FaultStatus: true, telegramsim.FaultHang: true, telegramsim.FaultDelay: false,
	telegramsim.FaultReset: false, telegramsim.FaultHangAfter: false, telegramsim.FaultStatusAfter: false,
	telegramsim.FaultHalfBody: false, telegramsim.FaultSlowBody: false, telegramsim.FaultGarbage: false,
	telegramsim.FaultDelayAfter: false,
}

// TestAnEffectIsThereExactlyWhenAFaultsNameSaysSo runs every kind against every
// sort of effect: a message, an edit, a confirmed update.
func TestAnEffectIsThereExactlyWhenAFaultsNameSaysSo(t *testing.T) {
	t.Parallel()
	effects := map[string]struct {
		params  func(b *bundle) params
		happens func(b *bundle) bool
	}{
		"sendMessage": {
			func(*bundle) params { return params{"chat_id": 1001, "text": "sent"} },
			func(b *bundle) bool { return len(b.Ledger(1001)) == 2 },
		},
		"editMessageText": {
			func(*bundle) params { return params{"chat_id": 1001, "message_id": 2, "text": "edited"} },
			func(b *bundle) bool { return b.Ledger(1001)[0].Text == "edited" },
		},
		"deleteMessage": {
			func(*bundle) params { return params{"chat_id": 1001, "message_id": 2} },
			func(b *bundle) bool { return !b.Ledger(1001)[0].Deleted.IsZero() },
		},
		"getUpdates": {
			func(b *bundle) params { return params{"offset": b.Confirmed() + 1} },
			func(b *bundle) bool { return b.Pending() == 0 },
		},
		"logOut": {
			func(*bundle) params { return nil },
			func(b *bundle) bool { return b.call("getMe", nil).Code == 400 },
		},
	}
	for kind, before := range everyKind {
		for method, effect := range effects {
			t.Run(fmt.Sprint(kind, " ", method), func(t *testing.T) {
				t.Parallel()
				b := free(t)
				b.SendText(1001, "/start")
				b.say(1001, "first")
				id := b.Fault(telegramsim.Fault{Method: method, Kind: kind, Wait: time.Millisecond})
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = b.attempt(ctx, method, effect.params(b))
				}()
				require.Eventually(t, func() bool {
					log := b.Requests()
					return len(log) == 2 && log[1].Fault == id
				}, soon, time.Millisecond, "every request is in the log, with its fault")
				if kind == telegramsim.FaultHang || kind == telegramsim.FaultHangAfter {
					leave()
				}
				<-ended
				require.Eventually(t, func() bool { return !b.Requests()[1].Answered.IsZero() }, soon, time.Millisecond)
				require.Equal(t, !before, effect.happens(b))
			})
		}
	}
}

// attempt sends a call with a context of its own and returns what broke.
func (b *bundle) attempt(ctx context.Context, method string, p params) error {
	b.t.Helper()
	body, err := json.Marshal(p)
	require.NoError(b.t, err)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/bot"+b.Token()+"/"+method, strings.NewReader(string(body)))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/json")
	_, _, err = b.do(req)
	return err
}

func TestTheLogTellsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for kind, status := range map[telegramsim.Kind]int{
		telegramsim.FaultRefuse: 0, telegramsim.FaultStatus: 502, telegramsim.FaultDelay: 200, telegramsim.FaultReset: 0,
		telegramsim.FaultStatusAfter: 502, telegramsim.FaultHalfBody: 200, telegramsim.FaultSlowBody: 200,
		telegramsim.FaultGarbage: 200, telegramsim.FaultDelayAfter: 200,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.Fault(telegramsim.Fault{Kind: kind, Wait: time.Microsecond})
			_ = b.attempt(t.Context(), "getMe", nil)
			require.Eventually(t, func() bool { return !b.Requests()[0].Answered.IsZero() }, soon, time.Millisecond)
			require.Equal(t, status, b.Requests()[0].Status)
		})
	}
}

func TestACutConnectionIsAReset(t *testing.T) {
	t.Parallel()
	for _, kind := range []telegramsim.Kind{telegramsim.FaultRefuse, telegramsim.FaultReset} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.Fault(telegramsim.Fault{Kind: kind})
			err := b.attempt(t.Context(), "getMe", nil)
			require.Error(t, err)
			if _, isNetwork := errors.AsType[*net.OpError](err); isNetwork {
				require.ErrorIs(t, err, syscall.ECONNRESET)
				return
			}
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestAnswersCanBeScriptedInEveryPart(t *testing.T) {
	t.Parallel()
	for _, kind := range []telegramsim.Kind{telegramsim.FaultStatus, telegramsim.FaultStatusAfter, telegramsim.FaultGarbage} {
		for name, c := range map[string]struct {
			fault       telegramsim.Fault
			status      int
			contentType string
			body        string
		}{
			"a JSON error": {
				telegramsim.Fault{Status: 500, Body: `{"ok":false}`}, 500, "application/json", `{"ok":false}`,
			},
			"an empty-looking page": {telegramsim.Fault{Status: 504, Body: " "}, 504, "text/html", " "},
			"its own content type": {
				telegramsim.Fault{Status: 418, Body: "x", Header: http.Header{"content-type": {"text/plain"}}}, 418, "text/plain", "x",
			},
		} {
			t.Run(fmt.Sprint(kind, " ", name), func(t *testing.T) {
				t.Parallel()
				b := free(t)
				c.fault.Kind = kind
				b.Fault(c.fault)
				resp, raw, err := b.post("getMe", nil)
				require.NoError(t, err)
				if kind == telegramsim.FaultGarbage {
					c.status = 200 // garbage looks like success: that is its point
				}
				require.Equal(t, c.status, resp.StatusCode)
				require.Equal(t, c.contentType, resp.Header.Get("Content-Type"))
				require.Equal(t, c.body, string(raw))
			})
		}
	}
}

func TestASlowBodyKeepsItsPace(t *testing.T) {
	t.Parallel()
	for wait, each := range map[time.Duration]time.Duration{0: 50 * time.Millisecond, time.Second: time.Second} {
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				sim.Fault(telegramsim.Fault{Kind: telegramsim.FaultSlowBody, Wait: wait})
				start := time.Now()
				e := direct(t, sim, "close", nil)
				require.True(t, e.OK)
				require.Equal(t, time.Duration(len(`{"ok":true,"result":true}`))*each, time.Since(start))
			})
		})
	}
}

func TestASlowBodyOfA429KeepsItsRetryAfter(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.Penalise(1001, time.Minute)
	b.Fault(telegramsim.Fault{Kind: telegramsim.FaultSlowBody, Wait: time.Microsecond})
	e := b.call("sendMessage", params{"chat_id": 1001, "text": "x"})
	require.Equal(t, 429, e.Code)
	require.Equal(t, "60", e.Header.Get("Retry-After"))
}

func TestTheFirstFaultThatMatchesActs(t *testing.T) {
	t.Parallel()
	b := free(t)
	other := b.Fault(telegramsim.Fault{Method: "getChat", Kind: telegramsim.FaultStatus, Status: 500})
	first := b.Fault(telegramsim.Fault{Method: "getMe", Kind: telegramsim.FaultStatus, Status: 501, Times: 1})
	second := b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus, Status: 502})
	var got []int
	for range 3 {
		resp, _, err := b.post("getMe", nil)
		require.NoError(t, err)
		got = append(got, resp.StatusCode)
	}
	require.Equal(t, []int{501, 502, 502}, got)
	log := b.Requests()
	require.Equal(t, []int{first, second, second}, []int{log[0].Fault, log[1].Fault, log[2].Fault})
	require.True(t, b.RemoveFault(other))
	require.False(t, b.RemoveFault(first), "used up")
	require.True(t, b.RemoveFault(second))
}

// TestARefusalWaitsForAnEarlierFault: a refusal that could act before the body is
// read must not overtake a fault that was added first.
func TestARefusalWaitsForAnEarlierFault(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus, Times: 1})
	b.Fault(telegramsim.Fault{Kind: telegramsim.FaultRefuse, Times: 1})
	require.NoError(t, b.attempt(t.Context(), "getMe", nil))
	require.Error(t, b.attempt(t.Context(), "getMe", nil))
	require.NoError(t, b.attempt(t.Context(), "getMe", nil))
}

func TestARefusalCountsTheCallsItLetsPass(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.Fault(telegramsim.Fault{Kind: telegramsim.FaultRefuse, Nth: 3, Times: 2})
	var got []bool
	for range 6 {
		got = append(got, b.attempt(t.Context(), "getMe", nil) == nil)
	}
	require.Equal(t, []bool{true, true, false, false, true, true}, got)
}

func TestFaultsMatchMethodsInAnyCase(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.Fault(telegramsim.Fault{Method: "GetMe", Kind: telegramsim.FaultStatus})
	for _, method := range []string{"getMe", "GETME", "getme"} {
		resp, _, err := b.post(method, nil)
		require.NoError(t, err)
		require.Equal(t, 502, resp.StatusCode, method)
	}
}

func TestAFaultFindsItsChatByUsername(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.CreateChat(telegramsim.Chat{ID: 1001, Username: "ann"})
	b.CreateChat(telegramsim.Chat{ID: 1002})
	b.Fault(telegramsim.Fault{ChatID: 1001, Kind: telegramsim.FaultStatus})
	resp, _, err := b.post("sendMessage", params{"chat_id": "@Ann", "text": "x"})
	require.NoError(t, err)
	require.Equal(t, 502, resp.StatusCode)
	b.say(1002, "x")
}

func TestRemovingAFaultDoesNotFreeWhatHangsInIt(t *testing.T) {
	t.Parallel()
	b := free(t)
	id := b.Fault(telegramsim.Fault{Kind: telegramsim.FaultHang})
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.attempt(ctx, "getMe", nil) }()
	require.Eventually(t, func() bool { return len(b.Requests()) == 1 }, soon, time.Millisecond)
	require.True(t, b.RemoveFault(id))
	require.True(t, b.call("getMe", nil).OK)
	require.Empty(t, ended)
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestAFaultActsEvenOnAWrongToken(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus, Times: 1})
	for _, want := range []int{502, 401} {
		resp, err := b.client.Get(b.url + "/bot1:wrong/getMe")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, resp.StatusCode)
	}
}
