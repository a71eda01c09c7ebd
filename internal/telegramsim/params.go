package telegramsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
)

// maxParams is the server's cap on all parameters together (tdlib/td,
// HttpReader.h). Beyond it the answer is a 413 without a body.
const maxParams = 1 << 20

var errTooLarge = errors.New("request parameters over 1 MiB")

// call is one request under work.
type call struct {
	entry  *Request
	method string // lower case
	// params are shared with the log entry and the message: never written to once
	// the request is registered.
	params map[string]string
	// content is the text or caption without markup.
	content Formatted
	files   []File
	data    [][]byte // of each of the files; nil when too large to keep
	// download says that a file is asked for rather than a method.
	download bool
	// penalty is the one whose 429 this call was given.
	penalty *penalty
}

// integer reads a number, false when absent or no number.
func (c *call) integer(name string) (int64, bool) {
	n, err := strconv.ParseInt(c.params[name], 10, 64)
	return n, err == nil
}

// flag reads a boolean the way the server does.
func (c *call) flag(name string) bool {
	v := c.params[name]
	return v == "true" || v == "True" || v == "1" || v == "yes"
}

// read gathers query and body parameters as text. What cannot be parsed is
// silently missing, as on the real server; only size is an error.
func (c *call) read(r *http.Request) error {
	c.params = map[string]string{}
	addValues(c.params, r.URL.Query())
	defer drain(r)
	kind, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.Body == nil {
		return sizeOf(c.params)
	}
	if kind == "multipart/form-data" {
		c.readMultipart(multipart.NewReader(r.Body, attributes["boundary"]))
		return sizeOf(c.params)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxParams+1))
	switch {
	case len(body) > maxParams:
		return errTooLarge
	case err != nil:
		return nil
	case kind == "application/json":
		addJSON(c.params, body)
	case kind == "application/x-www-form-urlencoded":
		// An error leaves out the broken pairs only, as the server does.
		values, _ := url.ParseQuery(string(body))
		addValues(c.params, values)
	}
	return sizeOf(c.params)
}

// drain reads what is left of a body: net/http notices a client that hangs up
// only once the body is at its end.
func drain(r *http.Request) {
	if r.Body != nil {
		_, _ = io.CopyN(io.Discard, r.Body, maxParams)
	}
}

// addValues takes the first value of each name; later ones are ignored.
func addValues(params map[string]string, values url.Values) {
	for name, list := range values {
		params[name] = list[0]
	}
}

// addJSON takes the members of an object up to the first syntax error: the server
// logs a malformed body and works with what it got (tdlib/td, HttpReader.cpp), so
// a cut request shows as "chat_id is empty". Strings are decoded, null is absent,
// and anything else stays JSON text.
func addJSON(params map[string]string, body []byte) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return
	}
	for dec.More() {
		key, err := dec.Token()
		name, isName := key.(string)
		var value json.RawMessage
		if err != nil || !isName || dec.Decode(&value) != nil {
			return
		}
		var text string
		switch {
		case string(value) == "null":
		case json.Unmarshal(value, &text) == nil:
			params[name] = text
		default:
			params[name] = string(value)
		}
	}
}

// readMultipart keeps files with their bytes, and the text of other fields.
func (c *call) readMultipart(form *multipart.Reader) {
	room := maxStored
	for {
		part, err := form.NextPart()
		if err != nil {
			return
		}
		if part.FileName() != "" {
			data, size, err := readFile(part, room)
			if err != nil {
				return
			}
			room -= len(data)
			c.files = append(c.files, File{Field: part.FormName(), Name: part.FileName(), Size: size})
			c.data = append(c.data, data)
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, maxParams+1))
		if err != nil {
			return
		}
		c.params[part.FormName()] = string(value)
	}
}

// readFile reads a file to its end. Data is nil when it is larger than room,
// which is as much as is ever kept: a test may upload the 2 GB that a local
// server takes.
func readFile(r io.Reader, room int) (data []byte, size int64, err error) {
	data, err = io.ReadAll(io.LimitReader(r, int64(room)+1))
	if err != nil || len(data) <= room {
		return data, int64(len(data)), err
	}
	rest, err := io.Copy(io.Discard, r)
	return nil, int64(len(data)) + rest, err
}

// sizeOf holds the parameters to the server's cap, whatever their encoding was.
func sizeOf(params map[string]string) error {
	total := 0
	for name, value := range params {
		total += len(name) + len(value)
	}
	if total > maxParams {
		return errTooLarge
	}
	return nil
}
