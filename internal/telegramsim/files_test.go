package telegramsim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// upload is one file of a multipart request.
type upload struct{ field, name, content string }

// form builds a multipart request for a method.
func form(t *testing.T, sim *telegramsim.Sim, base, method string, p params, uploads ...upload) *http.Request {
	t.Helper()
	body := &bytes.Buffer{}
	parts := multipart.NewWriter(body)
	for name, value := range p {
		require.NoError(t, parts.WriteField(name, fmt.Sprint(value)))
	}
	for _, u := range uploads {
		part, err := parts.CreateFormFile(u.field, u.name)
		require.NoError(t, err)
		_, err = io.WriteString(part, u.content)
		require.NoError(t, err)
	}
	require.NoError(t, parts.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/bot"+sim.Token()+"/"+method, body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", parts.FormDataContentType())
	return req
}

// sendFiles uploads over the wire and returns the answer.
func (b *bundle) sendFiles(method string, p params, uploads ...upload) envelope {
	b.t.Helper()
	resp, raw, err := b.do(form(b.t, b.Sim, b.url, method, p, uploads...))
	require.NoError(b.t, err)
	return decode(b.t, resp, raw)
}

// find asks getFile for a path.
func (b *bundle) find(id string) string {
	b.t.Helper()
	e := b.call("getFile", params{"file_id": id})
	require.True(b.t, e.OK, e.Description)
	var file struct {
		ID     string `json:"file_id"`
		Unique string `json:"file_unique_id"`
		Path   string `json:"file_path"`
	}
	require.NoError(b.t, json.Unmarshal(e.Result, &file))
	require.Equal(b.t, id, file.ID)
	require.NotEmpty(b.t, file.Unique)
	return file.Path
}

// fetch downloads a path and returns status and body.
func (b *bundle) fetch(path string) (int, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.url+"/file/bot"+b.Token()+"/"+path, nil)
	require.NoError(b.t, err)
	resp, raw, err := b.do(req)
	require.NoError(b.t, err)
	return resp.StatusCode, string(raw)
}

// content is what the bot gets for a file_id.
func (b *bundle) content(id string) string {
	b.t.Helper()
	status, body := b.fetch(b.find(id))
	require.Equal(b.t, http.StatusOK, status)
	return body
}

// media is the part of a message that carries files.
type media struct {
	Document, Video *file
	Photo           []file
}

type file struct {
	ID   string `json:"file_id"`
	Name string `json:"file_name"`
	Size int64  `json:"file_size"`
}

func TestAUsersFileReachesTheBotAsAnUpdate(t *testing.T) {
	t.Parallel()
	for name, photo := range map[string]bool{
		"cat.jpg": true, "CAT.JPEG": true, "a.png": true, "b.webp": true,
		"report.pdf": false, "noextension": false, "jpg": false, "x.jpg.exe": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			id := b.SendFile(1001, name, []byte("content of "+name))
			e := b.call("getUpdates", nil)
			require.Equal(t, []int64{id}, updateIDs(t, e))
			var updates []struct{ Message media }
			require.NoError(t, json.Unmarshal(e.Result, &updates))
			got := updates[0].Message
			if photo {
				require.Nil(t, got.Document)
				require.Len(t, got.Photo, 1)
				require.Empty(t, got.Photo[0].Name, "a PhotoSize has no name")
				require.Equal(t, int64(len("content of "+name)), got.Photo[0].Size)
				require.Equal(t, "content of "+name, b.content(got.Photo[0].ID))
				return
			}
			require.Empty(t, got.Photo)
			require.Equal(t, name, got.Document.Name)
			require.Equal(t, "content of "+name, b.content(got.Document.ID))
		})
	}
}

func TestAFileInAChatFollowsTheRulesOfATextInIt(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.Block(1001)
	require.NotZero(t, b.SendFile(1001, "a.txt", nil), "writing unblocks")
	b.say(1001, "welcome back")
	b.SendText(-5, "hello")
	moved := b.Migrate(-5)
	b.SendFile(-5, "a.txt", nil)
	require.Len(t, b.Messages(moved), 2, "it arrives in the supergroup")
	b.SendText(-6, "hello")
	b.Kick(-6)
	require.Zero(t, b.SendFile(-6, "a.txt", nil), "a bot that was kicked hears nothing")
	require.Equal(t, int64(600_000_006), b.Messages(-6)[0].FromID)
}

func TestTheBytesOfAUsersFileAreCopied(t *testing.T) {
	t.Parallel()
	b := free(t)
	data := []byte("before")
	b.SendFile(1001, "a.txt", data)
	copy(data, "after!")
	require.Equal(t, "before", b.content(b.Messages(1001)[0].FileID))
}

func TestWhatTheBotUploadsCanBeFetchedByItsFileID(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	e := b.sendFiles("sendDocument", params{"chat_id": 1001, "caption": "c"}, upload{"document", "report.pdf", "%PDF"})
	var m media
	require.NoError(t, json.Unmarshal(e.Result, &m))
	require.Equal(t, "report.pdf", m.Document.Name)
	require.Equal(t, int64(4), m.Document.Size)
	require.Equal(t, "%PDF", b.content(m.Document.ID))
	require.Equal(t, m.Document.ID, b.Ledger(1001)[0].FileID)
	require.Regexp(t, `^documents/file_\d+\.pdf$`, b.find(m.Document.ID))
}

func TestAThumbnailIsNotTheFile(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	e := b.sendFiles("sendVideo", params{"chat_id": 1001, "video": "attach://main"},
		upload{"thumbnail", "t.jpg", "small"}, upload{"main", "v.mp4", "large"})
	var m media
	require.NoError(t, json.Unmarshal(e.Result, &m))
	require.Equal(t, "v.mp4", m.Video.Name)
	require.Equal(t, "large", b.content(m.Video.ID))
	require.Equal(t, []telegramsim.File{
		{Field: "main", Name: "v.mp4", Size: 5}, {Field: "thumbnail", Name: "t.jpg", Size: 5},
	}, b.Ledger(1001)[0].Files)
}

func TestEachItemOfAnAlbumHasItsOwnFile(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	e := b.sendFiles("sendMediaGroup", params{
		"chat_id": 1001, "media": `[{"type":"photo","media":"attach://b"},{"type":"document","media":"attach://a"},{"type":"photo","media":"https://example.org/x.jpg"}]`,
	}, upload{"a", "a.txt", "first"}, upload{"b", "b.jpg", "second"})
	var items []media
	require.NoError(t, json.Unmarshal(e.Result, &items))
	require.Equal(t, "second", b.content(items[0].Photo[0].ID))
	require.Equal(t, "first", b.content(items[1].Document.ID))
	require.Regexp(t, `^photos/`, b.find(items[0].Photo[0].ID))
	require.NotEmpty(t, items[2].Photo[0].ID)
	require.Equal(t, 400, b.call("getFile", params{"file_id": items[2].Photo[0].ID}).Code, "nobody fetched the address")
}

func TestAFileIDSentAgainIsTheSameFile(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendFile(1001, "cat.jpg", []byte("meow"))
	id := b.Messages(1001)[0].FileID
	var m media
	require.NoError(t, json.Unmarshal(b.call("sendPhoto", params{"chat_id": 1001, "photo": id}).Result, &m))
	require.Equal(t, id, m.Photo[0].ID)
	require.Equal(t, int64(4), m.Photo[0].Size)
	album := b.call("sendMediaGroup", params{"chat_id": 1001, "media": []any{
		params{"type": "photo", "media": id}, params{"type": "photo", "media": id},
	}})
	var items []media
	require.NoError(t, json.Unmarshal(album.Result, &items))
	require.Equal(t, id, items[1].Photo[0].ID)
}

func TestNoTwoFilesShareAnID(t *testing.T) {
	t.Parallel()
	b := free(t)
	seen := map[string]bool{}
	for n := range 5 {
		b.SendFile(1001, "a.txt", fmt.Append(nil, n))
		b.sendFiles("sendDocument", params{"chat_id": 1001}, upload{"document", "a.txt", "x"})
		b.call("sendPhoto", params{"chat_id": 1001, "photo": "https://example.org"})
	}
	for _, m := range b.Messages(0) {
		require.False(t, seen[m.FileID], m.FileID)
		seen[m.FileID] = true
	}
	require.Len(t, seen, 15)
}

func TestALinkIsGoodForAnHourFromGetFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		sim.SendFile(1001, "a.txt", []byte("x"))
		id := sim.Messages(1001)[0].FileID
		path := "documents/file_" + strings.TrimPrefix(id, "sim-file-") + ".txt"
		require.Equal(t, 404, download(t, sim, sim.Token(), path).Code, "no link before getFile")
		require.True(t, direct(t, sim, "getFile", params{"file_id": id}).OK)
		time.Sleep(time.Hour - 1)
		require.Equal(t, "x", download(t, sim, sim.Token(), path).Body.String())
		time.Sleep(time.Nanosecond)
		late := download(t, sim, sim.Token(), path)
		require.JSONEq(t, `{"ok":false,"error_code":404,"description":"Not Found"}`, late.Body.String())
		require.True(t, direct(t, sim, "getFile", params{"file_id": id}).OK)
		require.Equal(t, "x", download(t, sim, sim.Token(), path).Body.String(), "the file_id itself lasts")
	})
}

// download calls the handler in this goroutine.
func download(t *testing.T, sim *telegramsim.Sim, token, path string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	sim.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/file/bot"+token+"/"+path, nil))
	return rec
}

func TestFilesThatCannotBeHadAreNamed(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendFile(1001, "edge.bin", make([]byte, 20<<20))
	b.SendFile(1001, "large.bin", make([]byte, 20<<20+1))
	b.call("sendPhoto", params{"chat_id": 1001, "photo": "https://example.org/x.jpg"})
	list := b.Messages(1001)
	require.True(t, b.call("getFile", params{"file_id": list[0].FileID}).OK, "20 MB are allowed")
	for id, want := range map[string]string{
		list[1].FileID: "Bad Request: file is too big",
		list[2].FileID: "Bad Request: wrong file_id or the file is temporarily unavailable",
		"sim-file-999": "Bad Request: wrong file_id or the file is temporarily unavailable",
		"AgAD":         "Bad Request: invalid file_id",
		"":             "Bad Request: invalid file_id",
	} {
		require.Equal(t, want, b.call("getFile", params{"file_id": id}).Description, id)
	}
}

func TestStoredFilesAreBoundedAndTheOldestLeave(t *testing.T) {
	t.Parallel()
	b := free(t)
	for n := range 5 {
		b.SendFile(1001, "a.bin", bytes.Repeat([]byte{byte(n)}, 16<<20))
	}
	list := b.Messages(1001)
	require.Contains(t, b.call("getFile", params{"file_id": list[0].FileID}).Description, "temporarily unavailable")
	for _, m := range list[1:] {
		require.True(t, b.call("getFile", params{"file_id": m.FileID}).OK, "64 MiB are kept")
	}
	b.SendFile(1001, "empty.bin", nil)
	require.Empty(t, b.content(b.Messages(1001)[5].FileID), "an empty file is a file")
	b.SendFile(1001, "huge.bin", make([]byte, 64<<20+1))
	for _, m := range b.Messages(1001) {
		require.False(t, b.call("getFile", params{"file_id": m.FileID}).OK, "one beyond the bound leaves nothing, itself included")
	}
}

func TestAnUploadBeyondTheBoundIsStillAMessage(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	e := b.sendFiles("sendDocument", params{"chat_id": 1001}, upload{"document", "huge.bin", strings.Repeat("x", 64<<20+9)})
	require.True(t, e.OK)
	m := b.Ledger(1001)[0]
	require.Equal(t, int64(64<<20+9), m.Files[0].Size, "counted, not kept")
	require.Equal(t, "Bad Request: file is too big", b.call("getFile", params{"file_id": m.FileID}).Description)
}

func TestARefusedUploadLeavesNoFile(t *testing.T) {
	t.Parallel()
	b := free(t)
	require.Equal(t, 400, b.sendFiles("sendDocument", params{"chat_id": 77}, upload{"document", "a.txt", "x"}).Code)
	require.Equal(t, 400, b.call("getFile", params{"file_id": "sim-file-1"}).Code)
	require.Equal(t, []telegramsim.File{{Field: "document", Name: "a.txt", Size: 1}}, b.Requests()[0].Files, "but it is in the log")
}

func TestDownloadsNeedTheToken(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendFile(1001, "a.txt", []byte("x"))
	path := b.find(b.Messages(1001)[0].FileID)
	require.Equal(t, 401, download(t, b.Sim, "700000001:wrong", path).Code)
	require.Equal(t, 200, download(t, b.Sim, b.Token(), path).Code)
	require.Equal(t, 404, download(t, b.Sim, b.Token(), "documents/other").Code)
	require.Equal(t, 404, download(t, b.Sim, b.Token(), "").Code)
	b.Revoke()
	require.Equal(t, 401, download(t, b.Sim, b.Token(), path).Code)
}

func TestDownloadsAreLoggedAsFile(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendFile(1001, "a.txt", []byte("x"))
	path := b.find(b.Messages(1001)[0].FileID)
	b.fetch(path)
	log := b.Requests()
	require.Equal(t, "file", log[1].Method)
	require.Equal(t, map[string]string{"file_path": path}, log[1].Params)
	require.Equal(t, 200, log[1].Status)
}

func TestNoMethodIsCalledFile(t *testing.T) {
	t.Parallel()
	b := free(t)
	require.Equal(t, "Not Found: method not found", b.call("file", nil).Description)
}

func TestDownloadsMeetFaultsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for kind, check := range map[telegramsim.Kind]func(t *testing.T, resp *http.Response, raw []byte, err error){
		telegramsim.FaultHalfBody: func(t *testing.T, resp *http.Response, raw []byte, err error) {
			t.Helper()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.Equal(t, int64(10), resp.ContentLength)
			require.Equal(t, "01234", string(raw))
		},
		telegramsim.FaultSlowBody: func(t *testing.T, resp *http.Response, raw []byte, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, "0123456789", string(raw))
			require.Equal(t, "application/octet-stream", resp.Header.Get("Content-Type"))
		},
		telegramsim.FaultStatus: func(t *testing.T, resp *http.Response, raw []byte, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, 502, resp.StatusCode)
			require.Equal(t, telegramsim.BadGateway, string(raw))
		},
		telegramsim.FaultRefuse: func(t *testing.T, _ *http.Response, _ []byte, err error) {
			t.Helper()
			require.Error(t, err)
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendFile(1001, "a.txt", []byte("0123456789"))
			path := b.find(b.Messages(1001)[0].FileID)
			b.Fault(telegramsim.Fault{Method: "file", Kind: kind, Wait: time.Microsecond})
			require.True(t, b.call("getMe", nil).OK, "methods are spared")
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/file/bot"+b.Token()+"/"+path, nil)
			require.NoError(t, err)
			resp, raw, err := b.do(req)
			check(t, resp, raw, err)
		})
	}
}

func TestFileIDsOutliveARestartButBytesDoNot(t *testing.T) {
	t.Parallel()
	opts := telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "sim.json"), NoPollRules: true}
	before := newSim(t, opts)
	before.SendFile(1001, "a.txt", []byte("secret bytes"))
	id := before.Messages(1001)[0].FileID
	pending := direct(t, before, "getUpdates", nil)
	require.NoError(t, before.Close())
	after := newSim(t, opts)
	require.Equal(t, id, after.Messages(1001)[0].FileID)
	require.Equal(t, string(pending.Result), string(direct(t, after, "getUpdates", nil).Result))
	require.Contains(t, direct(t, after, "getFile", params{"file_id": id}).Description, "temporarily unavailable")
	after.SendFile(1001, "b.txt", nil)
	require.NotEqual(t, id, after.Messages(1001)[1].FileID)
}

func TestManyUploadAndFetchAtOnce(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	var crowd sync.WaitGroup
	for n := range 8 {
		crowd.Go(func() {
			content := strings.Repeat(fmt.Sprint(n), 1000)
			var m media
			if err := json.Unmarshal(b.sendFiles("sendDocument", params{"chat_id": 1001}, upload{"document", "a.txt", content}).Result, &m); err != nil {
				t.Error(err)
				return
			}
			if got := b.content(m.Document.ID); got != content {
				t.Error("another file's bytes")
			}
		})
	}
	crowd.Wait()
}

// FuzzDownload asks for any path: what was never named by getFile is never given.
func FuzzDownload(f *testing.F) {
	for _, path := range []string{"documents/file_1.txt", "../documents/file_1.txt", "", "//", "documents/%66ile_1.txt"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		sim := newSim(t, telegramsim.Options{})
		sim.SendFile(1001, "a.txt", []byte("x"))
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		req.URL.Path = "/file/bot" + sim.Token() + "/" + path
		rec := httptest.NewRecorder()
		sim.Handler().ServeHTTP(rec, req)
		require.NotEqual(t, http.StatusOK, rec.Code)
	})
}
