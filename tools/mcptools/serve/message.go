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
	"github.com/writ-go/writ/tools/mcptools/internal/jsonscan"
)

// maxBatch is how many messages one request may carry. Later protocols have none
// but single ones.
const maxBatch = 64

// maxDepth is how deep a message may be nested, which is as deep as the SDK reads.
const maxDepth = 1000

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
	id     json.RawMessage // nil if it has none
	method string
}

// open looks at the outside of a message, and reports whether it can be one. It reads
// names exactly, as the SDK does: what the SDK takes for a call is one here, whatever
// other spellings of "method" it has.
func open(text []byte) (e envelope, ok bool) {
	if !bytes.HasPrefix(text, []byte("{")) {
		return e, false
	}
	for name, value := range jsonscan.Members(text) {
		switch string(name) {
		case "id":
			e.id = value
		case "method":
			if json.Unmarshal(value, &e.method) != nil {
				return e, false
			}
		}
	}
	return e, true
}

func (e envelope) call() bool { return e.method != "" && e.id != nil }

// refusal is an answer before anything was done.
type refusal struct {
	status int
	code   int64
	text   string
	retry  time.Duration
}

// read takes the body of a request, and gives it back to be read again. Nothing is decoded
// before its size is known, and the client has room for it.
func (l Limits) read(w http.ResponseWriter, r *http.Request, from *request) (message, *refusal) {
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
	scale := &scale{request: from, Scanner: jsonscan.Scanner{
		Limits: jsonscan.Limits{Values: l.Values, Elements: maxBatch, Depth: maxDepth},
	}}
	body, err := io.ReadAll(io.TeeReader(http.MaxBytesReader(w, r.Body, l.Body), scale))
	if err != nil {
		return message{}, l.unread(err)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // see web.observe
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return look(body)
}

// unread is the refusal of a message that was not read to its end.
func (l Limits) unread(err error) *refusal {
	switch large := (*http.MaxBytesError)(nil); {
	case errors.As(err, &large):
		return l.tooLarge()
	case errors.Is(err, errFull):
		return busy(fmt.Sprintf("your open requests take more memory than the %d MiB that you may use; "+
			"try again when one of them has ended", l.Memory>>20))
	case errors.Is(err, jsonscan.ErrElements):
		return tooMany()
	case errors.Is(err, jsonscan.ErrDepth):
		return unreadable()
	case errors.Is(err, jsonscan.ErrValues):
		return invalid(http.StatusRequestEntityTooLarge, "a message may have %d JSON values", l.Values)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return invalid(http.StatusRequestTimeout, "the message did not arrive within %v", l.Stall)
	}
	return invalid(http.StatusBadRequest, "the message could not be read")
}

func (l Limits) tooLarge() *refusal {
	return invalid(http.StatusRequestEntityTooLarge, "a message may have %d bytes", l.Body)
}

func tooMany() *refusal {
	return invalid(http.StatusBadRequest, "a batch may have %d messages", maxBatch)
}

// foreign is the refusal of JSON that is not a message.
func foreign() *refusal { return invalid(http.StatusBadRequest, "the message is not one of JSON-RPC") }

// unreadable is the refusal of what is not JSON.
func unreadable() *refusal {
	refused := invalid(http.StatusBadRequest, "the message is not JSON, or nested too deeply")
	refused.code = jsonrpc.CodeParseError
	return refused
}

func invalid(status int, format string, args ...any) *refusal {
	return &refusal{status: status, code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf(format, args...)}
}

// look finds out what a body is. If it is not JSON, it ends here with an error of JSON-RPC.
func look(body []byte) (message, *refusal) {
	if !json.Valid(body) {
		return message{}, unreadable()
	}
	body = bytes.TrimLeft(body, " \t\r\n")
	if body[0] != '[' {
		one, ok := open(body)
		if !ok {
			return message{}, foreign()
		}
		return message{
			id: one.id, method: known(one.method), count: 1, calls: one.call(), opening: one.method == "initialize",
		}, nil
	}
	m := message{method: "batch"}
	for element := range jsonscan.Elements(body) {
		e, ok := open(element)
		if !ok {
			return message{}, foreign()
		}
		if m.count++; m.count > maxBatch {
			return message{}, tooMany()
		}
		m.calls = m.calls || e.call()
		m.opening = m.opening || e.method == "initialize"
	}
	m.count = max(1, m.count)
	return m, nil
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
