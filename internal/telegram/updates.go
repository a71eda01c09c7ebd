package telegram

import (
	"context"
	"encoding/json"
	"time"
)

// pollGrace is added to the poll's own timeout. A poll that is later than that
// has lost its connection: the server answers an empty list in time.
const pollGrace = 10 * time.Second

// UpdatesRequest is what getUpdates takes.
type UpdatesRequest struct {
	// Offset confirms, and so deletes, every update below it. 0 confirms nothing.
	// A negative one deletes all but the last updates.
	Offset int64
	// Limit is 1 to 100; 0 leaves it to the server, which takes 100.
	Limit int
	// Timeout is how long the server waits for an update, in whole seconds. The
	// server cuts it to 50 s.
	Timeout time.Duration
	// AllowedUpdates nil keeps the server's setting; empty means its default.
	AllowedUpdates []string
}

func (r UpdatesRequest) params() (json.RawMessage, error) {
	fields := map[string]any{"timeout": int64(r.Timeout / time.Second)}
	if r.Offset != 0 {
		fields["offset"] = r.Offset
	}
	if r.Limit != 0 {
		fields["limit"] = r.Limit
	}
	if r.AllowedUpdates != nil {
		fields["allowed_updates"] = r.AllowedUpdates
	}
	return json.Marshal(fields)
}

// Updates polls once and returns each update byte for byte, so that a kind or
// field unknown today is stored unharmed. It gives up 10 s after the poll's own
// timeout and leaves no connection behind for the next poll to hang on.
func (c *Client) Updates(ctx context.Context, r UpdatesRequest) ([]json.RawMessage, error) {
	const method = "getUpdates"
	params, err := r.params()
	if err != nil {
		return nil, &Error{Method: method, Err: err}
	}
	raw, err := c.call(ctx, method, params, max(r.Timeout, 0)+pollGrace)
	if err != nil {
		return nil, err
	}
	var updates []json.RawMessage
	if json.Unmarshal(raw, &updates) != nil || updates == nil {
		return nil, c.odd(method, raw)
	}
	return updates, nil
}

// User is the part of a Bot API User that a bot needs to know about itself.
type User struct {
	ID        int64  `json:"id"`
	Username  string `json:"username"`
	FirstName string `json:"first_name"`
}

// Me calls getMe. It is the cheapest proof that the token is good, and 404 on it
// proves that the token is bad.
func (c *Client) Me(ctx context.Context) (User, error) {
	const method = "getMe"
	raw, err := c.Call(ctx, method, nil)
	if err != nil {
		return User{}, err
	}
	var user User
	if json.Unmarshal(raw, &user) != nil || user.ID == 0 {
		return User{}, c.odd(method, raw)
	}
	return user, nil
}

// odd reports a result of a shape that the method does not have.
func (c *Client) odd(method string, raw json.RawMessage) *Error {
	return &Error{Method: method, Status: 200, Written: true, Err: ErrNotAnswer, body: c.token.scrub(string(raw), maxExcerpt)}
}
