package telegramsim

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"sync"
	"time"
)

// pageFiles is the chat page: plain HTML, CSS and JavaScript modules that need
// no build step and load nothing from elsewhere.
//
//go:embed page
var pageFiles embed.FS

// pagePolicy lets the page load and call nothing but this server. Data of users
// and bots cannot become script or style even where escaping were forgotten.
const pagePolicy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is one file of the page, ready to be served.
type asset struct {
	name string
	body []byte
	etag string
}

// pageAssets are the files under page by their path in the URL. They are hashed
// once per process, as a handler is made for many a test.
var pageAssets = sync.OnceValue(func() map[string]asset {
	assets := map[string]asset{}
	root, err := fs.Sub(pageFiles, "page")
	if err != nil {
		return assets
	}
	_ = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(root, name)
		sum := sha256.Sum256(body)
		assets[name] = asset{name: path.Base(name), body: body, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		return err
	})
	return assets
})

var pageIndex = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(pageFiles, "page/index.html"))
})

// mountPage serves the chat page at / and its files under /sim/page/. The page
// talks to the simulator through the admin API only.
func (s *Sim) mountPage(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.servePage)
	mux.HandleFunc("GET /sim/page/{file...}", serveAsset)
	mux.HandleFunc("GET /sim/api/pulse", s.apiPulse)
}

func (s *Sim) servePage(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	if err := pageIndex().Execute(&body, map[string]string{"TemporalUI": s.opts.TemporalUI}); err != nil {
		http.Error(w, "render the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	guard(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, "index.html", time.Time{}, bytes.NewReader(body.Bytes()))
}

// serveAsset makes the browser ask again each time, so that a page is never a
// mix of two builds, and answers 304 to what has not changed.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	file, known := pageAssets()[r.PathValue("file")]
	if !known || file.name == "index.html" {
		http.NotFound(w, r)
		return
	}
	guard(w.Header())
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", file.etag)
	w.Header().Set("Content-Type", contentTypes[path.Ext(file.name)])
	http.ServeContent(w, r, file.name, time.Time{}, bytes.NewReader(file.body))
}

// contentTypes do not depend on the machine's own table, which on some systems
// calls JavaScript text/plain; browsers refuse modules served as that.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func guard(h http.Header) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}
