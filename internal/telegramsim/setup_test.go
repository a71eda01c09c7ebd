package telegramsim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is a simulator with a server in front of it.
type bundle struct {
	*telegramsim.Sim
	t      *testing.T
	url    string
	client *http.Client
}

// envelope is an answer as a client sees it.
type envelope struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
	Header http.Header `json:"-"`
}

func setup(t *testing.T, opts telegramsim.Options) *bundle {
	t.Helper()
	sim, err := telegramsim.New(offline(opts))
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	client := server.Client()
	t.Cleanup(func() {
		require.NoError(t, sim.Close())
		client.CloseIdleConnections()
		server.Close()
	})
	return &bundle{Sim: sim, t: t, url: server.URL, client: client}
}

// free is a simulator without limits and without poll rules.
func free(t *testing.T) *bundle {
	t.Helper()
	return setup(t, telegramsim.Options{Limits: telegramsim.Limits{Off: true}, NoPollRules: true})
}

type params map[string]any

// post sends a call as JSON and returns the raw answer.
func (b *bundle) post(method string, p params) (*http.Response, []byte, error) {
	body, err := json.Marshal(p)
	require.NoError(b.t, err)
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+"/bot"+b.Token()+"/"+method, bytes.NewReader(body))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/json")
	return b.do(req)
}

func (b *bundle) do(req *http.Request) (*http.Response, []byte, error) {
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp, raw, err
}

func (b *bundle) call(method string, p params) envelope {
	b.t.Helper()
	resp, raw, err := b.post(method, p)
	require.NoError(b.t, err)
	return decode(b.t, resp, raw)
}

func decode(t *testing.T, resp *http.Response, raw []byte) envelope {
	t.Helper()
	e := envelope{Header: resp.Header}
	require.NoError(t, json.Unmarshal(raw, &e), string(raw))
	if !e.OK {
		require.Equal(t, e.Code, resp.StatusCode)
	}
	return e
}

// say sends a text and returns its message id.
func (b *bundle) say(chatID int64, text string) int64 {
	b.t.Helper()
	e := b.call("sendMessage", params{"chat_id": chatID, "text": text})
	require.True(b.t, e.OK, e.Description)
	var m struct {
		ID int64 `json:"message_id"`
	}
	require.NoError(b.t, json.Unmarshal(e.Result, &m))
	return m.ID
}

// direct calls the handler in this goroutine, for tests in a synctest bubble.
func direct(t *testing.T, sim *telegramsim.Sim, method string, p params) envelope {
	t.Helper()
	rec := httptest.NewRecorder()
	sim.Handler().ServeHTTP(rec, request(t, sim, method, p))
	return decode(t, rec.Result(), rec.Body.Bytes())
}

// request is a call as a form.
func request(t *testing.T, sim *telegramsim.Sim, method string, p params) *http.Request {
	t.Helper()
	form := url.Values{}
	for name, value := range p {
		text, isText := value.(string)
		if !isText {
			raw, err := json.Marshal(value)
			require.NoError(t, err)
			text = string(raw)
		}
		form.Set(name, text)
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/bot"+sim.Token()+"/"+method, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return req
}

// updateIDs are the ids in an answer of getUpdates.
func updateIDs(t *testing.T, e envelope) []int64 {
	t.Helper()
	require.True(t, e.OK, e.Description)
	var updates []struct {
		ID int64 `json:"update_id"`
	}
	require.NoError(t, json.Unmarshal(e.Result, &updates))
	ids := []int64{}
	for _, u := range updates {
		ids = append(ids, u.ID)
	}
	return ids
}

func texts(list []telegramsim.Message) []string {
	out := []string{}
	for _, m := range list {
		out = append(out, m.Text)
	}
	return out
}

// newSim is a simulator without a server, for bubbles.
func newSim(t *testing.T, opts telegramsim.Options) *telegramsim.Sim {
	t.Helper()
	sim, err := telegramsim.New(offline(opts))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sim.Close()) })
	return sim
}

// soon is when a test gives up waiting for what must happen. It is no promise: a
// busy machine takes its time.
const soon = time.Minute
