package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Server answers /healthz, /readyz and /metrics.
type Server struct {
	http     *http.Server
	listener net.Listener
}

// Listen binds the address and serves in the background until Close. An address
// that is taken is an error here and not later.
func Listen(ctx context.Context, addr string, health *Health, metrics *Metrics) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--http: %w: choose another address with --http", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { alive(w, health) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { ready(w, health) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	s := &Server{
		http:     &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute},
		listener: listener,
	}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			health.Degrade(PartHTTP, "the HTTP server stopped: "+err.Error())
		}
	}()
	return s, nil
}

// Addr is the address in use, with the port that was chosen for port 0.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops at once: nothing that is answered here is worth waiting for.
func (s *Server) Close() error { return s.http.Close() }

func alive(w http.ResponseWriter, health *Health) {
	if !health.Alive() {
		http.Error(w, "stuck: the poller is overdue", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "alive")
}

func ready(w http.ResponseWriter, health *Health) {
	ok, text := health.Ready()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprint(w, text)
}
