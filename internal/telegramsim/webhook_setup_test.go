package telegramsim_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

const hookURL = "https://example.org/hook"

// nobody is a receiver that is not there.
type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }

// offline keeps deliveries to made-up addresses off the net.
func offline(opts telegramsim.Options) telegramsim.Options {
	if opts.WebhookTransport == nil && !opts.PlainWebhooks {
		opts.WebhookTransport = nobody{}
	}
	return opts
}

// delivered is one delivery as its receiver saw it.
type delivered struct {
	id     int64
	at     time.Time
	url    string
	body   string
	header http.Header
	nth    int // of this update, from 1
}

// answer is what a receiver says; the zero value is an empty 200 at once.
type answer struct {
	status int
	body   string
	kind   string // Content-Type
	retry  string // Retry-After
	after  time.Duration
	err    error
}

// receiver is a webhook in memory, so that a bubble can have one.
type receiver struct {
	mu     sync.Mutex
	got    []delivered
	nth    map[int64]int
	open   map[int64]int
	peak   int
	answer func(delivered) answer
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	d := r.arrive(req)
	a := r.answer(d)
	defer r.leave(d)
	if a.after > 0 {
		select {
		case <-time.After(a.after):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	resp := &http.Response{
		StatusCode: a.status, Status: fmt.Sprint(a.status, " ", http.StatusText(a.status)), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)),
		Request: req,
	}
	resp.Header.Set("Content-Type", a.kind)
	resp.Header.Set("Retry-After", a.retry)
	return resp, nil
}

func (r *receiver) arrive(req *http.Request) delivered {
	raw, _ := io.ReadAll(req.Body)
	var update struct {
		ID int64 `json:"update_id"`
	}
	_ = json.Unmarshal(raw, &update)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nth[update.ID]++
	r.open[update.ID]++
	open := 0
	for _, n := range r.open {
		open += n
	}
	r.peak = max(r.peak, open)
	d := delivered{update.ID, time.Now(), req.URL.String(), string(raw), req.Header, r.nth[update.ID]}
	r.got = append(r.got, d)
	return d
}

func (r *receiver) leave(d delivered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[d.id]--
}

// most is how many deliveries were open together.
func (r *receiver) most() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.peak
}

// all is what came so far.
func (r *receiver) all() []delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivered{}, r.got...)
}

func (r *receiver) ids() []int64 {
	ids := []int64{}
	for _, d := range r.all() {
		ids = append(ids, d.id)
	}
	return ids
}

// since lists when the deliveries of an update came, after a start.
func (r *receiver) since(start time.Time, id int64) []time.Duration {
	var times []time.Duration
	for _, d := range r.all() {
		if d.id == id {
			times = append(times, d.at.Sub(start))
		}
	}
	return times
}

// hooked is a simulator whose webhook is set, with its receiver. Connections are
// few until a delivery succeeds, so a first update is delivered right away; it is
// the first in the receiver's list.
func hooked(t *testing.T, opts telegramsim.Options, p params, answers func(delivered) answer) (*telegramsim.Sim, *receiver) {
	t.Helper()
	sim, r := unhooked(t, opts, answers)
	set := params{"url": hookURL}
	maps.Copy(set, p)
	require.True(t, direct(t, sim, "setWebhook", set).OK)
	sim.SendText(999, "first")
	if opts.StateFile != "" {
		time.Sleep(time.Second) // it is delivered when the file has it
	}
	synctest.Wait()
	require.Zero(t, sim.Pending())
	return sim, r
}

// unhooked has the receiver only.
func unhooked(t *testing.T, opts telegramsim.Options, answers func(delivered) answer) (*telegramsim.Sim, *receiver) {
	t.Helper()
	r := &receiver{nth: map[int64]int{}, open: map[int64]int{}, answer: func(d delivered) answer {
		if answers == nil || strings.Contains(d.body, `"text":"first"`) {
			return answer{}
		}
		return answers(d)
	}}
	opts.WebhookTransport = r
	opts.NoPollRules = true
	return newSim(t, opts), r
}

// info is getWebhookInfo.
type info struct {
	URL            string   `json:"url"`
	Pending        int      `json:"pending_update_count"`
	MaxConnections int      `json:"max_connections"`
	Allowed        []string `json:"allowed_updates"`
	ErrorDate      int64    `json:"last_error_date"`
	Error          string   `json:"last_error_message"`
}

func webhookInfo(t *testing.T, sim *telegramsim.Sim) info {
	t.Helper()
	var i info
	require.NoError(t, json.Unmarshal(direct(t, sim, "getWebhookInfo", nil).Result, &i))
	return i
}

// never is an answer that does not come.
func never(delivered) answer { return answer{after: 1000 * time.Hour} }

// always is the same answer each time.
func always(a answer) func(delivered) answer { return func(delivered) answer { return a } }
