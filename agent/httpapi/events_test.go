package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/event"
)

// feed yields the events of a run.
type feed = func(ctx context.Context, id, after string) iter.Seq2[agent.RunEvent, error]

// serve serves a run of ann, with the events of a feed, or with its own if the feed is nil.
func serve(t *testing.T, task string, events feed) (h *handler, s *httptest.Server, run string) {
	t.Helper()
	h = newHandler(t, nil)
	if events != nil {
		h.feed = events
	}
	s = httptest.NewServer(h)
	t.Cleanup(s.Close)
	return h, s, "/runs/" + h.begin(t, task).ID
}

// openStream opens a stream of the events of a run.
func openStream(t *testing.T, s *httptest.Server, run, after string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+run+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User", "ann")
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// ended yields the events 1, 2 and 3 of a run, and its state.
func ended(_ context.Context, id, after string) iter.Seq2[agent.RunEvent, error] {
	return func(yield func(agent.RunEvent, error) bool) {
		n, _ := strconv.Atoi(after)
		for n++; n <= 3; n++ {
			e := agent.RunEvent{ID: strconv.Itoa(n), Type: "Step", Data: json.RawMessage(`"secret"`),
				Public: json.RawMessage("{\n\"n\":\r" + strconv.Itoa(n) + "}")}
			if !yield(e, nil) {
				return
			}
		}
		data, _ := json.Marshal(agent.RunInfo{ID: id, State: agent.Failed, Error: "429 of the provider"})
		yield(agent.RunEvent{ID: "4", Type: "failed", Data: data}, nil)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	h, s, run := serve(t, "rest", ended)
	last := `id: end
event: failed
data: {"id":"` + run[6:] + `","state":"failed","began":"0001-01-01T00:00:00Z","error":"the run has failed"}

`
	event := func(n string) string { return "id: " + n + "\nevent: Step\ndata: {\"n\":" + n + "}\n\n" }
	for _, test := range []struct{ after, want string }{
		{"", event("1") + event("2") + event("3") + last},
		{"2", event("3") + last},
		{"3", last},
	} {
		resp := openStream(t, s, run, test.after)
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != test.want || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("after %q: %v %q, %v", test.after, resp.Header, got, err)
		}
	}
	h.Contents = true
	got, err := io.ReadAll(openStream(t, s, run, "2").Body)
	if want := "id: 3\nevent: Step\ndata: \"secret\"\n\n" + last; err != nil || string(got) != want {
		t.Errorf("with contents: %q, %v", got, err)
	}
	if resp := openStream(t, s, run, "end"); resp.StatusCode != http.StatusNoContent {
		t.Errorf("after the end: status %d", resp.StatusCode)
	}
}

// HEAD does not keep the connection.
func TestHeadOfEvents(t *testing.T) {
	t.Parallel()
	h := newHandler(t, nil)
	h.feed = func(context.Context, string, string) iter.Seq2[agent.RunEvent, error] {
		t.Error("the events were read")
		return nil
	}
	if w := h.do("ann", http.MethodHead, "/runs/"+h.begin(t, "rest").ID+"/events", ""); w.Code != 204 {
		t.Errorf("got %d", w.Code)
	}
}

// The events of a run in progress have no contents: they show neither programs nor errors.
func TestEventsHaveNoContents(t *testing.T) {
	t.Parallel()
	opened := make(chan struct{})
	runner := newRunner(t, func(e event.Event) {
		if _, ok := e.(event.ProgramStart); ok {
			<-opened
		}
	})
	var whole strings.Builder
	h, s, _ := serve(t, "rest", func(ctx context.Context, id, after string) iter.Seq2[agent.RunEvent, error] {
		if after != "" { // it is in progress, so what the client has seen does not count
			t.Errorf("after %q", after)
		}
		return func(yield func(agent.RunEvent, error) bool) {
			open := sync.OnceFunc(func() { close(opened) })
			for e, err := range runner.Events(ctx, id, after) {
				open()
				whole.Write(e.Data)
				if !yield(e, err) {
					return
				}
			}
		}
	})
	h.runner = runner
	w := h.do("ann", http.MethodPost, "/runs", `{"input": {"task": "fail"}}`)
	got, err := io.ReadAll(openStream(t, s, "/"+w.Header().Get("Location"), "end").Body)
	if text := string(got); err != nil || !strings.Contains(text, "event: ProgramEnd\n") ||
		!strings.Contains(text, "id: end\nevent: failed\n") || !strings.Contains(text, "the run has failed") ||
		strings.Contains(text, "secret") || !strings.Contains(whole.String(), "secret") {
		t.Errorf("got %s, %v; the events are %s", got, err, &whole)
	}
}

// A stream of a paused run ends. If the run has gone on, it can be opened again.
func TestEventsAfterAnswer(t *testing.T) {
	t.Parallel()
	h, s, run := serve(t, "send bob", nil)
	for _, test := range []struct{ before, after, want string }{
		{"", "", "paused"},
		{"", "end", ""}, // browsers do not connect again
		{`{"approved": true}`, "", "done"},
	} {
		if test.before != "" {
			id := regexp.MustCompile(`r-[^"]*`).FindString(h.do("ann", http.MethodGet, run+"/tickets", "").Body.String())
			if w := h.do("ann", http.MethodPut, run+"/tickets/"+id, test.before); w.Code != 204 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		text, err := io.ReadAll(openStream(t, s, run, test.after).Body)
		if err != nil || test.want == "" && len(text) > 0 || !strings.Contains(string(text), test.want) {
			t.Errorf("after %q, got %s, %v, not %s", test.after, text, err, test.want)
		}
	}
}

// A stream ends without a last event if the run has not ended, so that clients connect again.
func TestEventsThatBreakOff(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"shutdown": nil, "error": errors.New("lost")} {
		_, s, run := serve(t, "rest", func(context.Context, string, string) iter.Seq2[agent.RunEvent, error] {
			return func(yield func(agent.RunEvent, error) bool) {
				if err != nil {
					yield(agent.RunEvent{}, err)
				}
			}
		})
		if got, err := io.ReadAll(openStream(t, s, run, "").Body); err != nil || len(got) > 0 {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// A stream without events has comments. When the client goes away, the iterator is left.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	h, s, run := serve(t, "rest", func(ctx context.Context, _, _ string) iter.Seq2[agent.RunEvent, error] {
		return func(func(agent.RunEvent, error) bool) {
			<-ctx.Done()
			close(left)
		}
	})
	h.heartbeat = time.Millisecond
	body := openStream(t, s, run, "").Body
	lines := bufio.NewReader(body)
	for range 4 {
		if line, err := lines.ReadString('\n'); err != nil || line != ": alive\n" && line != "\n" {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	body.Close()
	<-left
}

// A client that never reads is disconnected. The run is not blocked: its iterator is left.
func TestClientThatNeverReads(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	h, s, run := serve(t, "rest", func(context.Context, string, string) iter.Seq2[agent.RunEvent, error] {
		return func(yield func(agent.RunEvent, error) bool) {
			defer close(left)
			data := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
			for yield(agent.RunEvent{ID: "1", Type: "Step", Public: data}, nil) {
			}
		}
	})
	h.stall = 50 * time.Millisecond
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET "+run+"/events HTTP/1.1\r\nHost: x\r\nUser: ann\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-left
}

// The client is told, and so is the log, if the middleware hides that the server can stream.
func TestWriterThatCannotStream(t *testing.T) {
	t.Parallel()
	h, _, run := serve(t, "rest", ended)
	for name, wrap := range map[string]func(*httptest.ResponseRecorder) http.ResponseWriter{
		"no flush":     func(w *httptest.ResponseRecorder) http.ResponseWriter { return patient{w} },
		"no deadlines": func(w *httptest.ResponseRecorder) http.ResponseWriter { return w },
	} {
		var log bytes.Buffer
		h.Logger = slog.New(slog.NewTextHandler(&log, nil))
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, run+"/events", nil)
		r.Header.Set("User", "ann")
		h.ServeHTTP(wrap(w), r)
		if w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), "no_stream") ||
			!strings.Contains(log.String(), "Unwrap") {
			t.Errorf("%s: %d %s, log %s", name, w.Code, w.Body, &log)
		}
	}
}

// patient is a ResponseWriter that has deadlines, but cannot flush.
type patient struct{ http.ResponseWriter }

func (patient) SetWriteDeadline(time.Time) error { return nil }

// A stream ends after some time, so that the client authenticates again.
func TestLongStream(t *testing.T) {
	t.Parallel()
	h, s, run := serve(t, "rest", func(context.Context, string, string) iter.Seq2[agent.RunEvent, error] {
		return func(yield func(agent.RunEvent, error) bool) {
			for yield(agent.RunEvent{ID: "1", Type: "Step"}, nil) {
			}
		}
	})
	h.longest = time.Millisecond
	if _, err := io.Copy(io.Discard, openStream(t, s, run, "").Body); err != nil {
		t.Error(err)
	}
}
