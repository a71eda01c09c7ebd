package telegramsim

import (
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// maxStored bounds the bytes of files that are kept; the oldest leave first.
	maxStored = 64 << 20
	// maxDownload is the largest file getFile gives out (Bot API docs, getFile).
	maxDownload = 20 << 20
	// linkLife is how long a file_path is served. The docs promise "at least 1
	// hour"; the simulator keeps to the promise and not a second more, so that a
	// bot that stores paths is found out.
	linkLife = time.Hour

	fileIDPrefix = "sim-file-"
	attachPrefix = "attach://"
)

// fileExtension is what may follow the dot in a file_path, whatever users call
// their files.
var fileExtension = regexp.MustCompile(`^\.[A-Za-z0-9]{1,8}$`)

// storedFile is a file the bot may download. Its bytes never change, so they are
// read without the lock. They are nil once they had to make room.
type storedFile struct {
	File
	id    string
	path  string
	data  []byte
	until time.Time // end of the link; zero until getFile
}

// fileStore keeps files in memory only, guarded by Sim.mu: a file_id outlives a
// restart in the messages, its bytes do not.
type fileStore struct {
	byID   map[string]*storedFile
	byPath map[string]*storedFile
	order  []*storedFile // those with bytes, oldest first
	bytes  int
}

// keep adds a file and drops the oldest ones that no longer fit. Data of nil
// stands for bytes nobody could keep: the file is known and cannot be had.
func (s *fileStore) keep(id string, f File, data []byte) {
	kept := &storedFile{File: f, id: id, data: data}
	kept.path = f.Field + "s/file_" + strings.TrimPrefix(id, fileIDPrefix)
	if extension := path.Ext(f.Name); fileExtension.MatchString(extension) {
		kept.path += extension
	}
	s.byID[id], s.byPath[kept.path] = kept, kept
	if data == nil {
		return
	}
	s.order = append(s.order, kept)
	s.bytes += len(data)
	for s.bytes > maxStored {
		s.bytes -= len(s.order[0].data)
		s.order[0].data = nil
		s.order = slices.Delete(s.order, 0, 1)
	}
}

// newFileID is the id of the file in the message that is stored next. It follows
// Message.Seq, which the state file keeps, so that no id is ever given twice.
func (s *Sim) newFileID() string { return fmt.Sprintf("%s%d", fileIDPrefix, s.seq+1) }

// attach gives a message of the bot its file: one of this upload, one Telegram
// has already, or, for an address on the web, an id without bytes.
func (s *Sim) attach(c *call, m *Message, field, source string) {
	if known := s.files.byID[source]; known != nil {
		m.FileID, m.Files = source, []File{known.File}
		return
	}
	m.FileID = s.newFileID()
	part := strings.TrimPrefix(source, attachPrefix)
	if part == "" || part == source {
		part = field
	}
	i := slices.IndexFunc(c.files, func(f File) bool { return f.Field == part })
	if i < 0 {
		return
	}
	main := c.files[i]
	// A thumbnail may come first on the wire; the message's own file leads here.
	m.Files = slices.Concat([]File{main}, c.files[:i], c.files[i+1:])
	main.Field = field
	s.files.keep(m.FileID, main, c.data[i])
}

// getFile answers with a path that is good for an hour from now.
func (s *Sim) getFile(c *call) *answer {
	id := c.params["file_id"]
	if !strings.HasPrefix(id, fileIDPrefix) {
		return badRequest("invalid file_id")
	}
	f := s.files.byID[id]
	switch {
	case f != nil && f.Size > maxDownload:
		return badRequest("file is too big")
	case f == nil || f.data == nil:
		return badRequest("wrong file_id or the file is temporarily unavailable")
	}
	f.until = time.Now().Add(linkLife)
	return ok(map[string]any{"file_id": id, "file_unique_id": uniqueID(id), "file_size": f.Size, "file_path": f.path})
}

// download answers GET /file/bot<token>/<file_path> with the bytes. A path is
// unknown before getFile named it and after its hour.
func (s *Sim) download(c *call) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files.byPath[c.params["file_path"]]
	if f == nil || f.data == nil || !time.Now().Before(f.until) {
		return fail(http.StatusNotFound, "Not Found")
	}
	return &answer{status: http.StatusOK, file: f.data}
}

// uniqueID is the same for a file whoever asks; bots cannot download by it.
func uniqueID(id string) string { return "sim-" + strings.TrimPrefix(id, fileIDPrefix) }
