package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/durabot/durabot/internal/stats"
)

const (
	// pageAge is how old the numbers of a page may be, so that a dashboard cannot
	// weigh on Temporal.
	pageAge = time.Second
	// closeMost is what Close waits for requests in the air.
	closeMost = 2 * time.Second
	// headerMost is far above what a proxy adds to a post.
	headerMost = 64 << 10
)

// Server answers /healthz, /readyz, /metrics, /api/v1/stats and what else is
// mounted.
type Server struct {
	http     *http.Server
	mux      *http.ServeMux
	listener net.Listener
}

// Listen binds the address and serves in the background until Close. An address
// that is taken is an error here and not later.
func Listen(ctx context.Context, addr string, health *Health, metrics *Metrics, source *stats.Source) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--http: %w: choose another address with --http", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { alive(w, health) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { ready(w, health) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /api/v1/stats", func(w http.ResponseWriter, r *http.Request) { tell(w, r, source) })
	s := &Server{
		http: &http.Server{
			Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: headerMost,
		},
		mux:      mux,
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

// Mount has a handler answer requests for a path.
func (s *Server) Mount(path string, handler http.Handler) { s.mux.Handle(path, handler) }

// Close closes connections on which nothing is asked at once, and gives what is
// being answered up to 2 s, also when ctx has ended.
func (s *Server) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeMost)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return s.http.Close()
	}
	return nil
}

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

// tell answers with the numbers, or with 503 and why there are none.
func tell(w http.ResponseWriter, r *http.Request, source *stats.Source) {
	var answer any
	code := http.StatusOK
	answer, err := source.Numbers(r.Context(), pageAge)
	if err != nil {
		answer, code = map[string]string{"error": err.Error()}, http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // on its way: nobody is left to tell
}
