package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// pulse is what the simulator says of itself, however many chats it has.
type pulse struct {
	Polling  bool   `json:"polling"`
	Webhook  string `json:"webhook"`
	Pending  int    `json:"pending"`
	Requests struct {
		Accepted   int `json:"accepted"`
		Limited    int `json:"limited"`
		Violations int `json:"violations"`
	} `json:"requests"`
	Penalties []struct {
		ChatID int64     `json:"chat_id,string"`
		Until  time.Time `json:"until"`
	} `json:"penalties"`
}

// message is one that the bot sent. Text is the one after its last edit.
type message struct {
	ID     int64     `json:"id,string"`
	ChatID int64     `json:"chat_id,string"`
	Text   string    `json:"text"`
	Time   time.Time `json:"time"`
}

// request is one that the bot made.
type request struct {
	Method     string    `json:"method"`
	Overlapped bool      `json:"overlapped"` // another poll was under way
	ChatID     int64     `json:"chat_id,string"`
	Arrived    time.Time `json:"arrived"`
	Status     int       `json:"status"`
	Fault      int       `json:"fault"` // that was arranged, 0 for none
}

func (s *sim) pulse(ctx context.Context) (pulse, error) {
	var p pulse
	return p, s.ask(ctx, http.MethodGet, "/pulse", nil, &p)
}

// ledger is every message of the bot, in order.
func (s *sim) ledger(ctx context.Context) ([]message, error) {
	var list struct{ Messages []message }
	return list.Messages, s.ask(ctx, http.MethodGet, "/ledger?limit=1000000", nil, &list)
}

// delivery is one post.
type delivery struct {
	UpdateID int64     `json:"update_id,string"`
	At       time.Time `json:"at"`
	Answered time.Time `json:"answered"`
	Status   int       `json:"status"`
}

// deliveries are all posts.
func (s *sim) deliveries(ctx context.Context) ([]delivery, error) {
	var list struct{ Deliveries []delivery }
	return list.Deliveries, s.ask(ctx, http.MethodGet, "/deliveries?limit=1000000", nil, &list)
}

// requests are all of the bot's.
func (s *sim) requests(ctx context.Context) ([]request, error) {
	var list struct{ Requests []request }
	return list.Requests, s.ask(ctx, http.MethodGet, "/requests?limit=1000000", nil, &list)
}

// arrivals are the times at which the requests to one chat arrived.
func (s *sim) arrivals(ctx context.Context, chat int64) ([]time.Time, error) {
	all, err := s.requests(ctx)
	var times []time.Time
	for _, r := range all {
		if r.ChatID == chat {
			times = append(times, r.Arrived)
		}
	}
	return times, err
}

// say lets a person write.
func (s *sim) say(ctx context.Context, chat int64, text string) error {
	return s.ask(ctx, http.MethodPost, fmt.Sprintf("/chats/%d/send", chat), map[string]string{"text": text}, nil)
}

// block makes a person one who has blocked the bot.
func (s *sim) block(ctx context.Context, chat int64) error {
	created := s.ask(ctx, http.MethodPost, "/chats", map[string]string{"id": strconv.FormatInt(chat, 10)}, nil)
	return errors.Join(created, s.ask(ctx, http.MethodPost, fmt.Sprintf("/chats/%d/block", chat), nil, nil))
}

// fault has the next message to a chat answered with a status, before it has
// arrived.
func (s *sim) fault(ctx context.Context, chat int64, status int, body string) error {
	return s.ask(ctx, http.MethodPost, "/faults", map[string]any{
		"method": "sendMessage", "chat_id": strconv.FormatInt(chat, 10), "times": 1, "kind": "status", "status": status, "body": body,
	}, nil)
}

// unlimited ends all limits.
func (s *sim) unlimited(ctx context.Context) error {
	return s.ask(ctx, http.MethodPost, "/limits", map[string]bool{"off": true}, nil)
}

// penalise starts a penalty on a chat and returns its end.
func (s *sim) penalise(ctx context.Context, chat int64, d time.Duration) (time.Time, error) {
	body := map[string]float64{"seconds": d.Seconds()}
	if err := s.ask(ctx, http.MethodPost, fmt.Sprintf("/chats/%d/penalise", chat), body, nil); err != nil {
		return time.Time{}, err
	}
	p, err := s.pulse(ctx)
	for _, penalty := range p.Penalties {
		if penalty.ChatID == chat {
			return penalty.Until, err
		}
	}
	return time.Time{}, fmt.Errorf("no penalty on chat %d: %w", chat, err)
}

// ask calls the simulator's admin API.
func (s *sim) ask(ctx context.Context, verb, path string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, verb, s.url+"/sim/api"+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("simulator: %s %s: %s", verb, path, resp.Status)
	}
	var rest json.RawMessage
	if answer == nil {
		answer = &rest // read to its end, so that the connection is used again
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
