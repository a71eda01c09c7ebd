package e2e_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay is a road that a test can close: then connections are refused, which no
// fault of the simulator can do.
type relay struct {
	t    *testing.T
	addr string
	to   string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
}

// road puts a relay between the world's bots and its Telegram.
func (w *world) road() *relay {
	w.t.Helper()
	r := w.relay(w.api[len("http://"):])
	w.api = "http://" + r.addr
	return r
}

// wire is a relay to Temporal, for startVia.
func (w *world) wire() *relay {
	w.t.Helper()
	return w.relay(shared.temporal.Addr())
}

func (w *world) relay(to string) *relay {
	w.t.Helper()
	r := &relay{t: w.t, to: to, addr: "127.0.0.1:0", open: map[net.Conn]bool{}}
	r.reopen()
	w.t.Cleanup(r.cut)
	return r
}

// reopen lets connections through again, at the same address.
func (r *relay) reopen() {
	r.t.Helper()
	listener, err := new(net.ListenConfig).Listen(r.t.Context(), "tcp", r.addr)
	require.NoError(r.t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener, r.addr = listener, listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.pass(conn)
		}
	}()
}

// cut refuses new connections and ends those there are.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.listener.Close()
	for conn := range r.open {
		_ = conn.Close()
	}
}

func (r *relay) pass(from net.Conn) {
	to, err := new(net.Dialer).DialContext(context.Background(), "tcp", r.to) // ends with the connection
	if err != nil {
		_ = from.Close()
		return
	}
	r.hold(from, to)
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
	_ = from.Close()
}

func (r *relay) hold(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		r.open[c] = true
	}
}
