package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch is how many messages one request may carry. Later protocols have none
// but single ones.
const maxBatch = 64

// message is what must be known of a request's body before it is handled.
type message struct {
	id      json.RawMessage // of a single message; nil if it has none
	method  string          // of a single message, or "batch"
	count   int
	calls   bool // whether something has to be answered
	opening bool // whether it begins a session
}

// envelope is the outside of a message of JSON-RPC.
type envelope struct {
	ID     json.RawMessage
	Method string
}

// UnmarshalJSON reads names exactly, as the SDK does: what it takes for a call is one
// here, whatever other spellings of "method" stand beside it.
func (e *envelope) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	e.ID = fields["id"]
	if method := fields["method"]; method != nil {
		return json.Unmarshal(method, &e.Method)
	}
	return nil
}

func (e envelope) call() bool { return e.Method != "" && e.ID != nil }

// refusal is an answer before anything was done.
type refusal struct {
	status int
	code   int64
	text   string
	retry  time.Duration
}

// read takes the body of a request, and gives it back to be read again.
func (l Limits) read(w http.ResponseWriter, r *http.Request) (message, *refusal) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodGet:
		return message{method: "stream"}, nil
	case http.MethodDelete:
		return message{method: "end"}, nil
	default:
		return message{method: "other"}, nil
	}
	if r.ContentLength > l.Body {
		return message{}, l.tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, l.Body))
	switch large := (*http.MaxBytesError)(nil); {
	case errors.As(err, &large):
		return message{}, l.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return message{}, &refusal{status: http.StatusRequestTimeout, code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("the message did not arrive within %v", l.Stall)}
	case err != nil:
		return message{}, &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, text: "the message could not be read"}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // see web.observe
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return look(body)
}

func (l Limits) tooLarge() *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("a message may have %d bytes", l.Body)}
}

// look finds out what a body is. What is no JSON, or nested more deeply than the
// standard library reads, ends here with an error of JSON-RPC.
func look(body []byte) (message, *refusal) {
	var all []envelope
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) > 0 && trimmed[0] == '[' {
		if err := json.Unmarshal(body, &all); err != nil {
			return message{}, unreadable(err)
		}
	} else {
		var one envelope
		if err := json.Unmarshal(body, &one); err != nil {
			return message{}, unreadable(err)
		}
		return message{id: one.ID, method: known(one.Method), count: 1, calls: one.call(), opening: one.Method == "initialize"}, nil
	}
	if len(all) > maxBatch {
		return message{}, &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf("a batch may have %d messages", maxBatch)}
	}
	m := message{method: "batch", count: max(1, len(all))}
	for _, e := range all {
		m.calls = m.calls || e.call()
		m.opening = m.opening || e.Method == "initialize"
	}
	return m, nil
}

func unreadable(err error) *refusal {
	refused := &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeParseError, text: "the message is not JSON, or nested too deeply"}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		refused.code, refused.text = jsonrpc.CodeInvalidRequest, "the message is not one of JSON-RPC"
	}
	return refused
}

// known is the method, if it is one of the protocol: metrics name no others.
func known(method string) string {
	switch method {
	case "initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
		"resources/templates/list", "resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get",
		"completion/complete", "logging/setLevel", subscribe, "notifications/initialized",
		"notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return method
	case "":
		return "answer"
	}
	return "other"
}

// subscribe is a call that stays open, as long as the client wants to hear.
const subscribe = "subscriptions/listen"

// write answers with the refusal, as JSON-RPC, so that it ends one call and no
// session.
func (f *refusal) write(w http.ResponseWriter, id json.RawMessage) {
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((f.retry+time.Second-1)/time.Second))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	if id == nil {
		id = json.RawMessage("null")
	}
	_ = json.NewEncoder(w).Encode(map[string]any{ // nobody can act on it
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": f.code, "message": f.text},
	})
}

// busy asks the client to come again.
func busy(text string) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: jsonrpc.CodeInternalError, text: text, retry: time.Second}
}
