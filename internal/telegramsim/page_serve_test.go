package telegramsim_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// fetch asks the handler for a page file.
func fetch(t *testing.T, sim *telegramsim.Sim, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	maps.Copy(req.Header, header)
	rec := httptest.NewRecorder()
	sim.Handler().ServeHTTP(rec, req)
	return rec
}

func TestPageMayLoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{})
	for _, path := range []string{"/", "/sim/page/js/main.js", "/sim/page/css/base.css", "/sim/page/icon.svg"} {
		rec := fetch(t, sim, path, nil)
		require.Equal(t, http.StatusOK, rec.Code, path)
		policy := rec.Header().Get("Content-Security-Policy")
		require.True(t, strings.HasPrefix(policy, "default-src 'self';"), policy)
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
	}
}

func TestAPageOfAnotherSiteCannotPlayTheUser(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{})
	for site, want := range map[string]int{"same-origin": http.StatusOK, "cross-site": http.StatusForbidden} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/sim/api/chats/1001/send", strings.NewReader(`{"text":"hello"}`))
		req.Header.Set("Sec-Fetch-Site", site)
		rec := httptest.NewRecorder()
		sim.Handler().ServeHTTP(rec, req)
		require.Equal(t, want, rec.Code, site)
	}
	require.Len(t, sim.Messages(1001), 1)
}

func TestPageFilesAreServedAsWhatTheyAre(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{})
	kinds := map[string]string{
		"/": "text/html; charset=utf-8", "/sim/page/js/main.js": "text/javascript; charset=utf-8",
		"/sim/page/css/talk.css": "text/css; charset=utf-8", "/sim/page/icon.svg": "image/svg+xml",
	}
	for path, kind := range kinds {
		require.Equal(t, kind, fetch(t, sim, path, nil).Header().Get("Content-Type"), path)
	}
	for _, path := range []string{"/sim/page/", "/sim/page/nothing.js", "/sim/page/index.html", "/sim/page/../page.go"} {
		require.NotEqual(t, http.StatusOK, fetch(t, sim, path, nil).Code, path)
	}
}

func TestPageIsNeverStaleAndNotSentTwice(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{})
	require.Equal(t, "no-store", fetch(t, sim, "/", nil).Header().Get("Cache-Control"))
	first := fetch(t, sim, "/sim/page/js/main.js", nil)
	require.Equal(t, "no-cache", first.Header().Get("Cache-Control"))
	again := fetch(t, sim, "/sim/page/js/main.js", http.Header{"If-None-Match": first.Header()["Etag"]})
	require.Equal(t, http.StatusNotModified, again.Code)
	require.Empty(t, again.Body.Bytes())
}

func TestPageCarriesTheTemporalUIEscapedAndNoToken(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{TemporalUI: `http://127.0.0.1:8233/"><script>`})
	body := fetch(t, sim, "/", nil).Body.String()
	require.Contains(t, body, "http://127.0.0.1:8233/")
	require.NotContains(t, body, `"><script>`)
	require.NotContains(t, body, telegramsim.DefaultToken)
	require.NotContains(t, fetch(t, sim, "/sim/api/pulse", nil).Body.String(), telegramsim.DefaultToken)
}

// Data must go into the page as text; these are the ways by which it could
// become markup or code, or the page could reach another server.
var banned = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bfetch\("http|@import|url\(|<style|\bstyle="|\son\w+="`)

func TestPageSourcesHoldNoWayAroundEscaping(t *testing.T) {
	t.Parallel()
	files := 0
	err := fs.WalkDir(os.DirFS("page"), ".", func(name string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		if entry.IsDir() {
			return nil
		}
		files++
		body, err := os.ReadFile("page/" + name)
		require.NoError(t, err)
		require.NotRegexp(t, banned, string(body), name)
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, files, 20)
}

// pulse is what the page reads of /sim/api/pulse.
type pulse struct {
	Pending   int
	Confirmed string
	Penalties []struct {
		ChatID string `json:"chat_id"`
	}
	Faults []struct{ Kind string }
	Rates  []struct{ All, Limited int }
	Log    []struct {
		Method string
		Status int
		Params map[string]string
	}
}

func readPulse(t *testing.T, sim *telegramsim.Sim) pulse {
	t.Helper()
	var p pulse
	require.NoError(t, json.Unmarshal(fetch(t, sim, "/sim/api/pulse", nil).Body.Bytes(), &p))
	return p
}

func TestPulseShowsWhatChangesWithoutAnEvent(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{})
	sim.SendText(5, "hello")
	sim.Penalise(5, time.Minute)
	sim.Penalise(6, -1)
	sim.Fault(telegramsim.Fault{Kind: telegramsim.FaultReset, ChatID: 9})
	direct(t, sim, "sendMessage", params{"chat_id": "5", "text": "secret words"})
	p := readPulse(t, sim)
	require.Equal(t, 1, p.Pending)
	require.Len(t, p.Penalties, 1)
	require.Equal(t, "5", p.Penalties[0].ChatID)
	require.Equal(t, "reset", p.Faults[0].Kind)
	require.Equal(t, http.StatusTooManyRequests, p.Log[0].Status)
	require.Nil(t, p.Log[0].Params, "a pulse is small: it leaves parameters out")
}
