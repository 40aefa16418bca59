// Package dashboard is the web page of a restaq runtime: what happened, what
// failed and why, and the buttons to retry, restart, replay or cancel it.
//
//	mux.Handle("/ops/", http.StripPrefix("/ops", dashboard.Handler(rt, dashboard.Config{
//		Authorize: dashboard.BasicAuth(dashboard.Login{Name: "ann", Password: os.Getenv("OPS_PASSWORD"), Role: dashboard.Act}),
//	})))
//
// The pages are made on the server and need no JavaScript; with it they follow
// what happens. They load nothing from elsewhere, and their Content-Security-Policy
// allows nothing inline.
//
// # Access
//
// Nothing is served unless Config.Authorize is set, not even a style sheet. Who
// may only View gets no buttons, and no answer but a refusal to what they would
// send. Acting takes a POST from the same origin, and the store's audit has an
// entry with the person's name before anything is done.
//
// # Failures
//
// A store that does not answer makes a page an error of status 503, whose cause
// is in the log alone. A page that follows what happens goes on when the store
// is back. Work on many executions runs in the process that was asked: if that
// ends, what was not done is left, and asking again is safe (a replay apart,
// which makes replays again).
package dashboard

import (
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/redact"
)

// Config adjusts a Handler. Authorize must be set.
type Config struct {
	// Authorize says who asks and what they may do, for every request. With an
	// error, or a role of None, the request is refused; an error of BasicAuth or
	// BearerToken makes browsers ask for credentials. If it is nil, nothing is
	// served. It must be safe for concurrent use.
	Authorize func(*http.Request) (Person, error)

	// Redact names more fields that are masked in payloads and outputs, by the
	// rules of package redact, for events of all handlers. Those that
	// restaq.Config.Redact names, in whatever process has the handler, always
	// are. Default: none more.
	Redact []string

	// Title says whose page it is, such as "production". Default: none.
	Title string

	// Refresh is how often a page that is open looks for news. Default: 2 s. A
	// longer one costs the store less.
	Refresh time.Duration

	// Logger gets what goes wrong. Default: slog.Default().
	Logger *slog.Logger
}

// defaultRefresh is that of Config.Refresh.
const defaultRefresh = 2 * time.Second

// server answers the requests of one Handler.
type server struct {
	rt     *restaq.Runtime
	cfg    Config
	redact redact.Rules
	mux    *http.ServeMux
	facts  facts
	masks  masks
	jobs   jobs
	slots  chan struct{} // full while as many pages are followed as may be
}

// Handler returns the page of rt, to be mounted wherever: at "/" as it is, or
// below a prefix that http.StripPrefix takes away. It may be made for a runtime
// without handlers, as the restaq command does.
func Handler(rt *restaq.Runtime, cfg Config) http.Handler {
	if cfg.Refresh <= 0 {
		cfg.Refresh = defaultRefresh
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	s := &server{
		rt: rt, cfg: cfg, redact: redact.New(cfg.Redact...), mux: http.NewServeMux(),
		slots: make(chan struct{}, maxStreams),
	}
	s.routes()
	return s.guard(http.HandlerFunc(s.serve))
}

// routes says what is served. A page can be followed at its path below /live.
func (s *server) routes() {
	s.page("/{$}", "overview", s.overview)
	s.page("/executions", "list", s.list)
	s.page("/executions/{id}", "execution", s.execution)
	s.page("/jobs/{id}", "job", s.job)
	s.page("/audit", "audit", s.audit)
	s.mux.HandleFunc("GET /executions/{id}/payload", s.payload)
	s.mux.HandleFunc("GET /static/{file}", s.static)

	s.action("/executions/{id}/{action}", s.act)
	s.action("/bulk", s.preview)
	s.action("/bulk/run", s.run)
	s.action("/jobs/{id}/stop", s.stop)
}

// serve finds out who answers a request. Paths that would have to be cleaned are
// nobody's: a redirection would not know what StripPrefix took away.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	clean := path.Clean(r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/") && clean != "/" {
		clean += "/"
	}
	if clean != r.URL.Path {
		s.fail(w, r, &problem{http.StatusNotFound, "There is no such page."})
		return
	}
	if _, pattern := s.mux.Handler(r); pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			w.Header().Set("Allow", method)
			s.fail(w, r, &problem{http.StatusMethodNotAllowed, "This address takes " + method + " only."})
			return
		}
	}
	s.fail(w, r, &problem{http.StatusNotFound, "There is no such page."})
}

// page serves a page at a path, and what changes on it below /live.
func (s *server) page(path, name string, show view) {
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, name, show) })
	s.mux.HandleFunc("GET /live"+path, func(w http.ResponseWriter, r *http.Request) { s.follow(w, r, name, show) })
}

// action serves what changes something: to those who may, and only as a POST.
func (s *server) action(path string, do http.HandlerFunc) {
	s.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		if personOf(r).Role < Act {
			s.fail(w, r, &problem{http.StatusForbidden, "You may look, but not act."})
			return
		}
		do(w, r)
	})
}
