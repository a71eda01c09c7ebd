package telegramsim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Sim is one simulated Bot API server with one bot. All methods may be called
// from any goroutine. Make it with New and end it with Close.
type Sim struct {
	opts Options

	// mu guards everything below that says nothing else. One lock for all keeps
	// the order of events, messages and requests the same for every looker-on; it
	// is never held while a request waits.
	mu        sync.Mutex
	rng       *rand.Rand
	token     string
	revoked   bool
	loggedOut bool
	botID     int64

	chats    map[int64]*chat
	order    []int64 // of chats, as they became known
	lastUser int64   // last private id that was given by CreateChat
	seq      int64   // of the last message in any chat
	accepted int64   // messages of the bot since New

	queue   queue
	poll    poller
	queries map[string]query // callback queries by id, until they are too old

	hook     webhook
	courier  *courier  // nil without a webhook
	nextHook time.Time // from when on setWebhook is taken
	// answered is runReply. A courier has it from here, as setWebhook, which starts
	// couriers, is itself in the table of methods that runReply looks into.
	answered   func(context.Context, *call)
	deliveries ring[Delivery]

	limits    Limits
	global    window
	paid      window
	charged   int64              // messages that were paid for
	penalties map[int64]*penalty // by chat; wholeBot is the key of the bot's own

	files fileStore

	faults    []*fault
	lastFault int
	cleared   chan struct{} // closed and replaced by ClearFaults

	log    requestLog
	events eventLog
	flood  *flood

	saver   saver
	done    chan struct{} // closed by Close
	ended   sync.Once
	workers sync.WaitGroup // the flood, the courier and the writer of the state file
}

// New makes a simulator. It fails when the token has no numeric bot id or the
// state file exists and cannot be read.
func New(opts Options) (*Sim, error) {
	opts = opts.withDefaults()
	botID, err := botIDOf(opts.Token)
	if err != nil {
		return nil, err
	}
	s := &Sim{
		opts: opts, token: opts.Token, botID: botID, limits: opts.Limits,
		rng:       rand.New(rand.NewPCG(uint64(opts.Seed), 0x7e1e6)),
		chats:     map[int64]*chat{},
		lastUser:  1000,
		queries:   map[string]query{},
		penalties: map[int64]*penalty{},
		files:     fileStore{byID: map[string]*storedFile{}, byPath: map[string]*storedFile{}},
		cleared:   make(chan struct{}),
		done:      make(chan struct{}),
		saver:     saver{wake: make(chan struct{}, 1), written: make(chan struct{})},
		events:    eventLog{notify: make(chan struct{})},
		log:       requestLog{byMethod: map[string]int64{}, polls: map[*Request]bool{}},
	}
	s.answered = s.runReply
	s.queue.next = s.firstID()
	s.queue.confirmed = s.queue.next
	if opts.StateFile == "" {
		return s, nil
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("load simulator state: %w", err)
	}
	s.workers.Go(s.keepSaving)
	s.openWebhook(s.hook)
	return s, nil
}

// Close ends waiting polls and hanging requests, cuts deliveries to a webhook,
// stops a running flood and writes the state file. It returns the last error of writing that file, and
// may be called again.
func (s *Sim) Close() error {
	s.ended.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.done)
	})
	s.workers.Wait()
	if s.opts.StateFile == "" {
		return nil
	}
	return s.save()
}

// Handler serves the Bot API at /bot<token>/<method> and its files at
// /file/bot<token>/<file_path>, the admin API under /sim/api/ and the chat page
// at /.
func (s *Sim) Handler() http.Handler {
	mux, api := http.NewServeMux(), http.NewServeMux()
	s.mountAPI(api)
	mux.Handle("/sim/api/", s.keeping(api))
	s.mountPage(mux)
	mux.HandleFunc("/", s.serveBot)
	// A page of another site, open in the same browser, must not play the user.
	return http.NewCrossOriginProtection().Handler(mux)
}

// Token is the token that is answered now.
func (s *Sim) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Revoke makes every call answer 401 until SetToken, as BotFather's /revoke does.
// A webhook gets nothing meanwhile.
func (s *Sim) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = true
	s.abortPoll(fail(http.StatusUnauthorized, "Unauthorized"))
}

// SetToken replaces the token: the old one answers 401 from now on, and queue,
// webhook, chats and messages stay. A token without a bot id is an error.
func (s *Sim) SetToken(token string) error {
	botID, err := botIDOf(token)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abortPoll(fail(http.StatusUnauthorized, "Unauthorized"))
	s.token, s.botID, s.revoked, s.loggedOut = token, botID, false, false
	s.wakeCourier()
	return nil
}

// SetLimits replaces the limits. Counts and penalties go on.
func (s *Sim) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l.withDefaults()
}

// pause waits, or returns false when the simulator ends or gone is closed.
func (s *Sim) pause(d time.Duration, gone <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-gone:
	case <-s.done:
	}
	return false
}

func botIDOf(token string) (int64, error) {
	head, _, _ := strings.Cut(token, ":")
	id, err := strconv.ParseInt(head, 10, 64)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("simulator token must start with a numeric bot id and a colon")
	}
	return id, nil
}
