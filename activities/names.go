package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/durabot/durabot/internal/telegram"
)

const (
	// nameKept is how long a public name is taken for the chat it was: it can be
	// given to another one.
	nameKept = time.Hour
	// namelessKept is how long a name that told no chat is not asked about again.
	namelessKept = time.Minute
	// mostNames bounds what is remembered.
	mostNames = 1000
)

// names remembers which chats public names are of. With one budget for the name
// and another for the number, a chat would get twice its limit.
type names struct {
	asking singleflight.Group

	mu    sync.Mutex
	known map[string]named
}

type named struct {
	chat  int64 // 0: not known
	until time.Time
}

// find returns the chat of a name, asked for if need be, 0 if it is not known.
// Calls that want it at the same time ask once. An error of ask is not remembered.
func (n *names) find(name string, ask func() (int64, error)) int64 {
	name = strings.ToLower(name)
	if chat, ok := n.get(name); ok {
		return chat
	}
	found, _, _ := n.asking.Do(name, func() (any, error) {
		chat, err := ask()
		if err == nil {
			n.put(name, chat)
		}
		return chat, nil
	})
	chat, _ := found.(int64)
	return chat
}

func (n *names) get(name string) (int64, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k, ok := n.known[name]
	return k.chat, ok && time.Now().Before(k.until)
}

func (n *names) put(name string, chat int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil || len(n.known) >= mostNames {
		n.known = map[string]named{}
	}
	kept := nameKept
	if chat == 0 {
		kept = namelessKept
	}
	n.known[name] = named{chat, time.Now().Add(kept)}
}

// resolve makes a call that counts spend the budget of the chat that its public
// name is of. A name of which Telegram says nothing keeps a budget of its own.
func (t *try) resolve(ctx context.Context) {
	if t.name == "" || !t.method.Counts {
		return
	}
	if chat := t.names.find(t.name, func() (int64, error) { return t.askChat(ctx) }); chat != 0 {
		t.chat, t.id = chat, chat
	}
}

// askChat asks Telegram for the number behind the call's public name; 0 is a name
// that it does not know.
func (t *try) askChat(ctx context.Context) (int64, error) {
	waiting, cancel := context.WithDeadline(ctx, t.patience)
	defer cancel()
	grant, err := t.Budget.Acquire(waiting, Want{
		Method: "getChat", Items: 1, Priority: t.in.Call.Priority, Since: t.since(),
	})
	if err != nil {
		return 0, err
	}
	defer grant.Done()
	params, err := json.Marshal(map[string]string{"chat_id": t.name})
	if err != nil {
		return 0, err
	}
	answer, err := t.API.Call(t.stop, "getChat", params) //nolint:contextcheck // a request like any other: it lives as long as the process
	te, refused := errors.AsType[*telegram.Error](err)
	switch telegram.Classify(err, "getChat") {
	case telegram.RateLimited:
		if refused {
			t.Budget.Penalize(0, "getChat", time.Now().Add(floodWait(te.RetryAfter, 1, jitter())))
		}
		return 0, err
	case telegram.Unreachable, telegram.Rejected:
		return 0, nil
	}
	var chat struct {
		ID int64 `json:"id"`
	}
	if err == nil {
		err = json.Unmarshal(answer, &chat)
	}
	return chat.ID, err
}
