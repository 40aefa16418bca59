package dashboard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed page static
var files embed.FS

// templates are the pages by name: each is the layout and its own "main".
var templates = func() map[string]*template.Template {
	all := make(map[string]*template.Template)
	base := template.Must(template.New("").Funcs(functions).ParseFS(files, "page/layout.html", "page/parts.html"))
	for _, name := range []string{"overview", "list", "execution", "preview", "job", "audit", "error"} {
		all[name] = template.Must(template.Must(base.Clone()).ParseFS(files, "page/"+name+".html"))
	}
	return all
}()

// assets are the files of the folder static by name.
var assets = func() map[string]asset {
	all := make(map[string]asset)
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, e := range entries {
		data, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		all[e.Name()] = asset{data, hex.EncodeToString(sum[:8])}
	}
	return all
}()

// asset is a file as it is served. Its version is part of its address.
type asset struct {
	data    []byte
	version string
}

// types are the media types of the assets, by the ending of their names.
var types = map[string]string{
	"css": "text/css; charset=utf-8",
	"js":  "text/javascript; charset=utf-8",
	"svg": "image/svg+xml",
}

// page is what the templates get.
type page struct {
	Title  string
	Brand  string // Config.Title
	Root   string // the way from the page to the overview: "./" or "../"
	Nav    string // the part of the page that is open
	Person Person
	Live   string // where the page can be followed, "" for one that is over
	Done   string // what the action before did
	Body   any
}

// CanAct reports whether there are buttons.
func (p *page) CanAct() bool { return p.Person.Role >= Act }

// view makes a page's title and body. What it returns as live says whether there
// is anything left to follow.
type view func(r *http.Request) (title string, body any, live bool, err error)

// show answers with a page.
func (s *server) show(w http.ResponseWriter, r *http.Request, name string, show view) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	r = r.WithContext(ctx)
	title, body, live, err := show(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	p := s.newPage(r, name, title, body)
	if live {
		p.Live = p.Root + "live" + r.URL.EscapedPath()
		if r.URL.RawQuery != "" {
			p.Live += "?" + r.URL.RawQuery
		}
	}
	s.render(w, r, http.StatusOK, name, p)
}

func (s *server) newPage(r *http.Request, name, title string, body any) *page {
	path := strings.TrimPrefix(r.URL.Path, "/live")
	root := "./" + strings.Repeat("../", strings.Count(path, "/")-1)
	return &page{
		Title: title, Brand: s.cfg.Title, Root: root, Nav: name, Person: personOf(r),
		Done: doneTexts[r.URL.Query().Get("done")], Body: body,
	}
}

// render writes a page whole, or an error if it cannot be made.
func (s *server) render(w http.ResponseWriter, r *http.Request, status int, name string, p *page) {
	var out bytes.Buffer
	if err := templates[name].ExecuteTemplate(&out, "layout", p); err != nil {
		s.cfg.Logger.Error("restaq: dashboard", "path", r.URL.Path, "error", err)
		http.Error(w, "The page cannot be made. The log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // who does not read on is gone
}

// fail answers with an error's page. To who is not known it shows no more than
// the error.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	shown := s.explain(r, err)
	if personOf(r).Role < View {
		http.Error(w, shown.text, shown.status)
		return
	}
	s.render(w, r, shown.status, "error", s.newPage(r, "", http.StatusText(shown.status), shown.text))
}

// static answers with an asset. Its address changes when it does.
func (s *server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	a, ok := assets[name]
	if !ok {
		s.fail(w, r, &problem{http.StatusNotFound, "There is no such file."})
		return
	}
	w.Header().Set("Content-Type", types[name[strings.LastIndexByte(name, '.')+1:]])
	if r.URL.Query().Get("v") == a.version {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	_, _ = w.Write(a.data)
}

// versioned is an asset's address below the root.
func versioned(name string) (string, error) {
	a, ok := assets[name]
	if !ok {
		return "", errors.New("no asset " + name)
	}
	return fmt.Sprintf("static/%s?v=%s", name, a.version), nil
}
