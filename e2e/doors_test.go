package e2e_test

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// doors lets each process in under a path of its own, which tells the processes
// of one bot apart: Telegram itself knows a bot by its token only.
type doors struct {
	telegram http.Handler

	mu     sync.Mutex
	visits []visit
}

// visit is one request of one process.
type visit struct {
	name   string // of the process
	method string
	at     time.Time
}

// ServeHTTP takes a process's name off the path and notes who came, when and
// what for. What comes without a name is let in as it is.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	name, call, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !strings.HasPrefix(name, "bot-") {
		d.telegram.ServeHTTP(w, r)
		return
	}
	_, method, _ := strings.Cut(call, "/")
	d.mu.Lock()
	d.visits = append(d.visits, visit{name: name, method: method, at: at})
	d.mu.Unlock()
	http.StripPrefix("/"+name, d.telegram).ServeHTTP(w, r)
}

// asked are the times of a process's requests of a method after a time, in order;
// "" is every method.
func (b *bot) asked(method string, after time.Time) []time.Time {
	d := b.w.doors
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []time.Time
	for _, v := range d.visits {
		if v.name == b.name && (method == "" || v.method == method) && v.at.After(after) {
			all = append(all, v.at)
		}
	}
	return all
}
