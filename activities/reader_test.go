package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

func TestAReaderReads(t *testing.T) {
	t.Parallel()
	api := &fakeAPI{}
	got, err := activities.NewReader(api, &fakeFiles{}).Read(t.Context(), "getChatMemberCount", map[string]any{"chat_id": "@a&b"})
	require.NoError(t, err)
	require.JSONEq(t, `{"message_id":7}`, string(got))
	require.Equal(t, []request{{"getChatMemberCount", `{"chat_id":"@a&b"}`}}, api.sent())
}

func TestAReaderRefusesWhatChangesSomething(t *testing.T) {
	t.Parallel()
	api := &fakeAPI{}
	for _, method := range []string{"sendMessage", "deleteMessage", "answerCallbackQuery", "setWebhook", "logOut", "", "brandNew"} {
		_, err := activities.NewReader(api, &fakeFiles{}).Read(t.Context(), method, nil)
		require.ErrorContains(t, err, "return it as a Call instead", method)
	}
	_, err := activities.NewReader(api, &fakeFiles{}).Read(t.Context(), "getChat", func() {})
	require.ErrorContains(t, err, "read getChat: params")
	require.Empty(t, api.sent())
}

func TestAHandlerFindsItsReader(t *testing.T) {
	t.Parallel()
	var title json.RawMessage
	_, err := handling(t, silent, func(ctx context.Context, _ contract.Update) (calls []contract.Call, err error) {
		title, err = activities.ReaderFrom(ctx).Read(ctx, "getChat", nil)
		return nil, err
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"message_id":7}`, string(title))
}

// getFile answers every call with one result.
type getFile struct {
	result string
	err    error
	asked  []request
}

func (g *getFile) Call(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	g.asked = append(g.asked, request{method, string(params)})
	return json.RawMessage(g.result), g.err
}

// fakeFiles holds files by path. A path it does not hold is an expired one.
type fakeFiles struct {
	files map[string]string
	fault error // after the bytes, nil for none
}

func (f *fakeFiles) Download(_ context.Context, path string, w io.Writer) (int64, error) {
	content, held := f.files[path]
	if !held {
		return 0, &telegram.Error{Method: "download", Status: 404, Written: true}
	}
	n, err := io.WriteString(w, content)
	if err == nil {
		err = f.fault
	}
	return int64(n), err
}

func TestAReaderFetchesAFileByItsID(t *testing.T) {
	t.Parallel()
	api := &getFile{result: `{"file_id":"AgAD","file_path":"photos/file_0.jpg"}`}
	files := &fakeFiles{files: map[string]string{"photos/file_0.jpg": "the picture"}}
	var got strings.Builder
	require.NoError(t, activities.NewReader(api, files).File(t.Context(), "AgAD", &got))
	require.Equal(t, "the picture", got.String())
	require.Equal(t, []request{{"getFile", `{"file_id":"AgAD"}`}}, api.asked)
}

func TestAReaderAsksForAFreshPathEachTime(t *testing.T) {
	t.Parallel()
	api := &getFile{result: `{"file_path":"a"}`}
	reader := activities.NewReader(api, &fakeFiles{files: map[string]string{"a": "x"}})
	for range 3 {
		require.NoError(t, reader.File(t.Context(), "id", io.Discard))
	}
	require.Len(t, api.asked, 3)
}

func TestAFileThatDoesNotComeIsAnError(t *testing.T) {
	t.Parallel()
	refused := &telegram.Error{Method: "getFile", Status: 400, Code: 400, Description: "Bad Request: file is too big", Written: true}
	cut := &telegram.Error{Method: "download", Status: 200, Written: true, Err: io.ErrUnexpectedEOF}
	for name, c := range map[string]struct {
		api   getFile
		files fakeFiles
		is    error
		text  string
	}{
		"refused":       {getFile{err: refused}, fakeFiles{}, refused, "find file: telegram: getFile: status 400: Bad Request: file is too big"},
		"no path":       {getFile{result: `{"file_id":"x"}`}, fakeFiles{}, nil, "find file: Telegram named no path"},
		"odd result":    {getFile{result: `{"file_path":7}`}, fakeFiles{}, nil, "find file: read result"},
		"not an object": {getFile{result: `true`}, fakeFiles{}, nil, "find file: read result"},
		"gone":          {getFile{result: `{"file_path":"b"}`}, fakeFiles{}, nil, "download file: telegram: download: status 404"},
		"cut":           {getFile{result: `{"file_path":"a"}`}, fakeFiles{map[string]string{"a": "ha"}, cut}, io.ErrUnexpectedEOF, "download file: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := activities.NewReader(&c.api, &c.files).File(t.Context(), "x", io.Discard)
			require.ErrorContains(t, err, c.text)
			require.True(t, c.is == nil || errors.Is(err, c.is))
		})
	}
}

func TestAHandlerReadsItsFiles(t *testing.T) {
	t.Parallel()
	_, err := handling(t, silent, func(ctx context.Context, _ contract.Update) ([]contract.Call, error) {
		return nil, activities.ReaderFrom(ctx).File(ctx, "AgAD", io.Discard)
	})
	require.ErrorContains(t, err, "Telegram named no path", "the fake's getFile answers with a message")
	err = activities.ReaderFrom(t.Context()).File(t.Context(), "AgAD", io.Discard)
	require.ErrorContains(t, err, "no Telegram here")
}

// A handler can be called in a test of its own: what it reads fails, what it
// returns can be looked at.
func ExampleReaderFrom() {
	handler := func(ctx context.Context, u contract.Update) ([]contract.Call, error) {
		if _, err := activities.ReaderFrom(ctx).Read(ctx, "getChat", map[string]any{"chat_id": u.ChatID}); err != nil {
			return nil, err
		}
		return nil, nil
	}
	_, err := handler(context.Background(), contract.Update{ChatID: 1})
	fmt.Println(err)
	// Output: no Telegram here: this context is not a handler's
}

// A handler asks for a file by the id in its update, and must expect to be run
// again: each run starts with an empty buffer.
func ExampleReader_file() {
	handler := func(ctx context.Context, u contract.Update) ([]contract.Call, error) {
		var photo strings.Builder
		if err := activities.ReaderFrom(ctx).File(ctx, "AgADBAADZqcx", &photo); err != nil {
			return nil, err
		}
		return nil, nil
	}
	_, err := handler(context.Background(), contract.Update{ChatID: 1})
	fmt.Println(err)
	// Output: find file: no Telegram here: this context is not a handler's
}
