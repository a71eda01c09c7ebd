package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func (p Program) chatCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "chat", Short: "Look at chats that are unreachable, moved or rate limited, and erase them", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.chatListCommand(g), p.chatShowCommand(g), p.chatClearCommand(g), p.chatEraseCommand(g))
	return cmd
}

// chatArg is the chat id that a person gave.
func chatArg(arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id == 0 {
		return 0, usage(fmt.Errorf("want a chat id such as 42 or -1001234567890, got %q", arg))
	}
	return id, nil
}

// chatView is what is exceptional about a chat. Every field is always there.
type chatView struct {
	ChatID string `json:"chat_id"`
	// Closed and Moved are null when they are not so.
	Closed    *contract.ChatClosed   `json:"closed"`
	Moved     *contract.ChatMoved    `json:"moved"`
	Penalties []contract.ChatPenalty `json:"penalties"`
}

func newChatView(chat int64, s contract.ChatState) chatView {
	return chatView{
		ChatID: strconv.FormatInt(chat, 10), Closed: s.Closed, Moved: s.Moved,
		Penalties: append([]contract.ChatPenalty{}, s.Penalties...),
	}
}

// ordinary reports whether there is nothing to tell.
func (c chatView) ordinary() bool { return c.Closed == nil && c.Moved == nil && len(c.Penalties) == 0 }

// limit adds the penalties that the process on duty knows: those of less than
// half a minute are nowhere else. Of two on one method the longer one counts.
func (c *chatView) limit(h starter.Holder) {
	for _, p := range h.Beat.Figures.Limiter.Penalties {
		if p.ChatID != c.ChatID {
			continue
		}
		i := slices.IndexFunc(c.Penalties, func(have contract.ChatPenalty) bool { return have.Method == p.Method })
		switch {
		case i < 0:
			c.Penalties = append(c.Penalties, contract.ChatPenalty{Method: p.Method, Until: p.Until})
		case p.Until.After(c.Penalties[i].Until):
			c.Penalties[i].Until = p.Until
		}
	}
	slices.SortStableFunc(c.Penalties, func(a, b contract.ChatPenalty) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Method, b.Method))
	})
}

// fact is one thing to say of a chat: what, since or until when, and why.
type fact struct{ what, when, why string }

func (c chatView) facts(now time.Time) []fact {
	var all []fact
	if c.Closed != nil {
		all = append(all, fact{"unreachable", "since " + stamp(c.Closed.Since), c.Closed.Why})
	}
	if c.Moved != nil {
		all = append(all, fact{"moved", "since " + stamp(c.Moved.Since), "to chat " + strconv.FormatInt(c.Moved.To, 10)})
	}
	for _, p := range c.Penalties {
		all = append(all, fact{"rate limited", endText(p.Until, now), p.Method})
	}
	return all
}
