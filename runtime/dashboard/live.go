package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// maxStreams is how many pages are followed at once. Further ones stay as
	// they are until they are loaded again.
	maxStreams = 64

	// streamFor is how long one stream lasts; the browser then asks for another.
	streamFor = 10 * time.Minute

	// streamIdle is how long a stream may be silent: proxies cut longer ones.
	streamIdle = 15 * time.Second
)

// follow sends the page's inner part as server-sent events whenever it has
// changed. Access is checked each time, so that who loses it sees no more.
func (s *server) follow(w http.ResponseWriter, r *http.Request, name string, show view) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		w.Header().Set("Retry-After", "30")
		s.fail(w, r, &problem{http.StatusServiceUnavailable, "Too many pages are followed at once."})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	send := func(text string) error {
		// A server's WriteTimeout is for answers that end. Where deadlines cannot
		// be set, that timeout ends the stream, and the browser asks again.
		_ = control.SetWriteDeadline(time.Now().Add(streamIdle))
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return control.Flush()
	}
	ctx, cancel := context.WithTimeout(r.Context(), streamFor)
	defer cancel()
	tick := time.NewTicker(s.cfg.Refresh)
	defer tick.Stop()
	last, sent := "", time.Now()
	for {
		text, over, err := s.inner(r.WithContext(ctx), name, show)
		switch {
		case err != nil:
			text = "" // the store may be back the next time
		case text != last:
			last, sent = text, time.Now()
			if send(event("page", text)) != nil {
				return
			}
		}
		if over {
			_ = send(event("over", "")) // the browser asks for no more then
			return
		}
		if time.Since(sent) >= streamIdle/2 {
			sent = time.Now()
			if send(":\n\n") != nil {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, err := s.authorize(w, r); err != nil {
			return
		}
	}
}

// inner makes a page's inner part. over says that it will not change any more.
func (s *server) inner(r *http.Request, name string, show view) (text string, over bool, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	title, body, live, err := show(r.WithContext(ctx))
	if err != nil {
		s.explain(r, err) // into the log
		return "", false, err
	}
	var out bytes.Buffer
	if err := templates[name].ExecuteTemplate(&out, "main", s.newPage(r, name, title, body)); err != nil {
		return "", false, fmt.Errorf("make page: %w", err)
	}
	return out.String(), !live, nil
}

// event is a server-sent event.
func event(name, data string) string {
	data = strings.NewReplacer("\r\n", "\ndata: ", "\n", "\ndata: ", "\r", "\ndata: ").Replace(data)
	return "event: " + name + "\ndata: " + data + "\n\n"
}
