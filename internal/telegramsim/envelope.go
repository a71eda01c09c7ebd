package telegramsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// answer is what a method returns: a result, or an error with the status that
// is also its error_code.
type answer struct {
	status      int
	result      []byte // JSON, of a 200
	description string // of every other status, and of a 200 now and then
	retryAfter  int    // seconds, 0 when there is nothing to wait for
	migrateTo   int64  // the supergroup to write to instead, else 0
	// file are the bytes of a download, sent without an envelope; nil for a method.
	file []byte
	// gone marks an answer nobody waits for: the client hung up.
	gone bool
}

func ok(result any) *answer {
	raw, err := json.Marshal(result)
	if err != nil {
		return fail(http.StatusInternalServerError, "Internal Server Error: "+err.Error())
	}
	return &answer{status: http.StatusOK, result: raw}
}

// done is the answer true with a word on what was done.
func done(description string) *answer {
	return &answer{status: http.StatusOK, result: []byte("true"), description: description}
}

func fail(status int, description string) *answer {
	return &answer{status: status, description: description}
}

// badRequest and its neighbours put the prefix in front that the open server adds
// to each status (Client.cpp, fail_query_with_error). The reason begins in lower
// case, as it does there.
func badRequest(reason string) *answer {
	return fail(http.StatusBadRequest, "Bad Request: "+reason)
}

func forbidden(reason string) *answer {
	return fail(http.StatusForbidden, "Forbidden: "+reason)
}

func conflict(reason string) *answer {
	return fail(http.StatusConflict, "Conflict: "+reason)
}

func tooManyRequests(seconds int) *answer {
	a := fail(http.StatusTooManyRequests, fmt.Sprintf("Too Many Requests: retry after %d", seconds))
	a.retryAfter = seconds
	return a
}

// body is the JSON envelope. It is put together by hand because a result may
// hold garbage a test pushed, which an encoder would refuse.
func (a *answer) body() []byte {
	if a.file != nil {
		return a.file
	}
	if a.status == http.StatusOK && a.description != "" {
		return fmt.Appendf(nil, `{"ok":true,"result":%s,"description":%q}`, a.result, a.description)
	}
	if a.status == http.StatusOK {
		return bytes.Join([][]byte{[]byte(`{"ok":true,"result":`), a.result, []byte(`}`)}, nil)
	}
	envelope := struct {
		OK          bool           `json:"ok"`
		Code        int            `json:"error_code"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters,omitempty"`
	}{Code: a.status, Description: a.description, Parameters: map[string]any{}}
	if a.retryAfter > 0 {
		envelope.Parameters["retry_after"] = a.retryAfter
	}
	if a.migrateTo != 0 {
		envelope.Parameters["migrate_to_chat_id"] = a.migrateTo
	}
	raw, err := json.Marshal(envelope)
	if err != nil {
		return []byte(`{"ok":false}`)
	}
	return raw
}

// header sets the headers of the answer; Retry-After repeats the parameter, as
// the open server does.
func (a *answer) header(h http.Header, length int) {
	h.Set("Content-Type", "application/json")
	if a.file != nil {
		h.Set("Content-Type", "application/octet-stream")
	}
	h.Set("Content-Length", strconv.Itoa(length))
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
}
