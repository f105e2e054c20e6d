package playground

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/internal/feed"
	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

//go:embed page.html page.css page.js
var assets embed.FS

var page = template.Must(template.ParseFS(assets, "page.html"))

const maxBody = 1 << 20 // bytes

// headers are set for every response.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; trusted-types 'none'; " +
		"require-trusted-types-for 'script'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

func (p *Playground) routes() {
	p.mux = http.NewServeMux()
	p.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = page.Execute(w, p.options)
	})
	files := http.FileServerFS(assets)
	p.mux.Handle("GET /page.css", files)
	p.mux.Handle("GET /page.js", files)
	p.mux.HandleFunc("GET /events", p.stream)
	p.mux.HandleFunc("GET /runs/{id}/report", p.report)
	p.mux.HandleFunc("POST /runs", post(func(_ *http.Request, in struct{ Task string }) (any, error) {
		id, err := p.start(in.Task)
		return map[string]string{"id": id}, err
	}))
	p.mux.HandleFunc("POST /runs/{id}/stop", post(func(r *http.Request, _ struct{}) (any, error) {
		return struct{}{}, p.stop(r.PathValue("id"))
	}))
	p.mux.HandleFunc("POST /runs/{id}/resume", post(func(r *http.Request, in resumption) (any, error) {
		return struct{}{}, p.resume(r.Context(), r.PathValue("id"), in)
	}))
}

// resumption has the decisions with which a run goes on, by the IDs of calls.
type resumption struct {
	Hash      string // of the checkpoint that the decisions are about
	Decisions map[string]decision
}

// decision is a decision on the page.
type decision struct {
	Approved bool
	Reason   string
	Args     string        // as JSON; empty if they are unchanged
	Outcome  journal.State // for a call whose outcome is unknown
	Result   string        // as JSON, if it was done
	Repeat   *tools.Repeat // for a call that resembles earlier ones
}

func (d decision) decision() (made agent.Decision) {
	switch {
	case d.Repeat != nil:
		made.Repeat = d.Repeat
	case d.Outcome != "":
		made.Outcome = &journal.Reconciled{State: d.Outcome, Result: raw(d.Result)}
	default:
		made.Decision = policy.Decision{Approved: d.Approved, Reason: d.Reason, Args: raw(d.Args), By: "playground"}
	}
	return made
}

func raw(text string) json.RawMessage { return append(json.RawMessage(nil), text...) } // nil if it is empty

// ServeHTTP serves the page and what it requests, all of it below [Playground.Path].
func (p *Playground) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	if err := p.admit(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	p.list(r.Context())
	http.StripPrefix("/"+p.token, p.mux).ServeHTTP(w, r)
}

// admit checks where a request comes from. See the package comment.
func (p *Playground) admit(r *http.Request) error {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !loopback(local) {
		return errors.New("playground: the page is served on loopback addresses only")
	}
	_, port, _ := net.SplitHostPort(local.String())
	hosts := []string{local.String(), net.JoinHostPort("localhost", port)}
	if !slices.ContainsFunc(hosts, func(host string) bool { return strings.EqualFold(r.Host, host) }) {
		return errors.New("playground: the request is for another host; use the URL that was printed")
	}
	token, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 0 {
		return errors.New("playground: the URL does not have the token; use the URL that was printed")
	}
	origin := r.Header.Get("Origin")
	if origin != "http://"+r.Host && (origin != "" || r.Method != http.MethodGet) {
		return errors.New("playground: the header Origin must be the page itself, as browsers set it")
	}
	return nil
}

// post returns a handler that decodes and replies with JSON.
func post[In any](do func(*http.Request, In) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		var result any
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		d.DisallowUnknownFields()
		err := d.Decode(&in)
		if err == nil {
			result, err = do(r, in)
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			why := refusal{status: http.StatusBadRequest}
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				why.status = http.StatusRequestEntityTooLarge
			}
			errors.As(err, &why)
			w.WriteHeader(why.status)
			result = map[string]string{"error": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(result)
	}
}

// report sends the report of a run as a file.
func (p *Playground) report(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	one := p.find(r.PathValue("id"))
	if one == nil || !one.Report {
		p.mu.Unlock()
		http.Error(w, "playground: this run has no report", http.StatusNotFound)
		return
	}
	trajectory, task, id := one.trajectory, one.Task, one.ID
	p.mu.Unlock()
	var html bytes.Buffer
	if err := report.Write(&html, trajectory, &report.Options{Inputs: agent.Task{Task: task}}); err != nil {
		http.Error(w, "playground: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", id+".html"))
	_, _ = w.Write(html.Bytes())
}

// stream sends server-sent events until the client goes away: the events of the run that is asked for and, as "runs",
// the list of runs whenever it changes.
func (p *Playground) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	last, _ := strconv.Atoi(cmp.Or(r.Header.Get("Last-Event-ID"), "0"))
	shown := ""
	alive := time.NewTicker(20 * time.Second)
	defer alive.Stop()
	for {
		p.mu.Lock()
		changed := p.changed
		list, err := json.Marshal(p.runs)
		var news []feed.Message
		if one := p.find(r.URL.Query().Get("run")); one != nil {
			news = one.events.After(last)
		}
		p.mu.Unlock()
		for _, m := range news {
			last = m.ID
			if err == nil {
				_, err = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", m.ID, m.Data)
			}
		}
		if text := string(list); err == nil && text != shown {
			shown = text
			_, err = fmt.Fprintf(w, "event: runs\ndata: %s\n\n", text)
		}
		if err = cmp.Or(err, control.Flush()); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
			time.Sleep(20 * time.Millisecond) // what changes meanwhile is sent together
		case <-alive.C:
			_, _ = fmt.Fprint(w, ": alive\n\n")
		}
	}
}
