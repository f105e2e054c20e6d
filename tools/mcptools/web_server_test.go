package mcptools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// request is a message that a scripted HTTP server receives.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// answer returns the response to a message; "" for a notification.
func (s script) answer(r request) string {
	if r.ID == nil {
		return ""
	}
	text := `"error":{"code":-32601,"message":"Method not found"}`
	if f := s[r.Method]; f != nil {
		text = f(r.Params)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, r.ID, text)
}

func read(r *http.Request) request {
	var msg request
	_ = json.NewDecoder(r.Body).Decode(&msg)
	return msg
}

// asJSON and asEvents are the forms of a response.
func asJSON(w http.ResponseWriter, answer string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}

func asEvents(w http.ResponseWriter, answer string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: message\ndata: "+answer+"\n\n")
}

// handler serves the script over streamable HTTP. It passes calls of tools to call, unless that
// is nil.
func (s script) handler(send func(http.ResponseWriter, string),
	call func(http.ResponseWriter, *http.Request, request)) http.Handler {
	whole := s.whole()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		msg := read(r)
		switch {
		case msg.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case msg.Method == "tools/call" && call != nil:
			call(w, r, msg)
		default:
			send(w, whole.answer(msg))
		}
	})
}

// serveWeb serves a handler and returns its address.
func serveWeb(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// open connects to a server with a URL under the name "s".
func open(t *testing.T, config ServerConfig, o *Options) *Servers {
	t.Helper()
	config.Name = "s"
	return start(t, config, o)
}

// fails returns the error of connecting to a server.
func fails(t *testing.T, config ServerConfig, o *Options) string {
	t.Helper()
	config.Name = "s"
	servers, err := Start(t.Context(), &Config{Servers: []ServerConfig{config}}, o)
	if err == nil {
		servers.Close()
		t.Fatal("it connected")
	}
	return strings.TrimPrefix(err.Error(), "all mcp servers failed:\n")
}

// legacy is a scripted server of protocol 2024-11-05.
type legacy struct {
	script
	endpoint string
	post     func(w http.ResponseWriter, r *http.Request, msg request) bool // true if it is done

	mu  sync.Mutex
	out chan string
}

func newLegacy(s script) *legacy { return &legacy{script: s.whole(), endpoint: "messages?session=x"} }

func (l *legacy) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		out := make(chan string, 10)
		l.mu.Lock()
		l.out = out
		l.mu.Unlock()
		fmt.Fprintf(w, ": welcome\n\nevent: endpoint\ndata: %s\n\n", l.endpoint)
		for {
			w.(http.Flusher).Flush()
			select {
			case text := <-out:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n: ping\n\n", text)
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		msg := read(r)
		if l.post != nil && l.post(w, r, msg) {
			return
		}
		w.WriteHeader(http.StatusAccepted)
		if answer := l.answer(msg); answer != "" {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.out <- answer
		}
	})
	return mux
}
