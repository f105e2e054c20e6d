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
	"github.com/writ-go/writ/internal/jsonscan"
)

// maxDepth is the maximum nesting depth of a message. The SDK has the same limit.
const maxDepth = 1000

// message describes the message in the body of an HTTP request.
type message struct {
	id      json.RawMessage // may be nil
	method  string          // for the log
	call    bool            // the message requires a response
	opening bool            // the message begins a session
}

// refusal is the response to a request that is not processed.
type refusal struct {
	status int
	code   int64
	text   string
	retry  time.Duration
}

// read reads a request's body, and replaces it so that it can be read again. The message is decoded only after its
// memory has been reserved.
func (l limits) read(w http.ResponseWriter, r *http.Request, from *request) (message, *refusal) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodGet:
		return message{method: "stream"}, nil
	case http.MethodDelete:
		return message{method: "end"}, nil
	default:
		return message{method: "other"}, nil
	}
	if r.ContentLength > l.body {
		return message{}, l.tooLarge()
	}
	meter := &messageMeter{request: from, Scanner: jsonscan.Scanner{
		Limits: jsonscan.Limits{Values: l.values, Depth: maxDepth},
	}}
	body, err := io.ReadAll(io.TeeReader(http.MaxBytesReader(w, r.Body, l.body), meter))
	if err != nil {
		return message{}, l.unread(err)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // see response.begin
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return inspect(body)
}

// unread returns the refusal of a message that could not be read to its end.
func (l limits) unread(err error) *refusal {
	switch large := (*http.MaxBytesError)(nil); {
	case errors.As(err, &large):
		return l.tooLarge()
	case errors.Is(err, errFull):
		return busy(fmt.Sprintf("not enough memory for the message: your open requests may take %d MiB; "+
			"try again when one of them has ended", l.memory>>20))
	case errors.Is(err, jsonscan.ErrDepth):
		return notJSON()
	case errors.Is(err, jsonscan.ErrValues):
		return invalid(http.StatusRequestEntityTooLarge, "a message may have at most %d JSON values", l.values)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return invalid(http.StatusRequestTimeout, "the message did not arrive within %v", l.stall)
	}
	return invalid(http.StatusBadRequest, "cannot read the message")
}

func (l limits) tooLarge() *refusal {
	return invalid(http.StatusRequestEntityTooLarge, "a message may have at most %d bytes", l.body)
}

// notMessage returns the refusal of JSON that is not a JSON-RPC message.
func notMessage() *refusal { return invalid(http.StatusBadRequest, "not a JSON-RPC message") }

// notJSON returns the refusal of a body that is not JSON.
func notJSON() *refusal {
	refused := invalid(http.StatusBadRequest, "the message is not JSON, or is nested too deeply")
	refused.code = jsonrpc.CodeParseError
	return refused
}

func invalid(status int, format string, args ...any) *refusal {
	return &refusal{status: status, code: jsonrpc.CodeInvalidRequest, text: fmt.Sprintf(format, args...)}
}

// inspect describes the message in a body.
func inspect(body []byte) (message, *refusal) {
	if !json.Valid(body) {
		return message{}, notJSON()
	}
	body = bytes.TrimLeft(body, " \t\r\n")
	switch body[0] {
	case '[':
		return message{}, invalid(http.StatusBadRequest, "batches are not supported; send one message per request")
	case '{':
	default:
		return message{}, notMessage()
	}
	var m message
	for name, value := range jsonscan.Members(body) { // names match exactly, as in the SDK
		switch string(name) {
		case "id":
			m.id = value
		case "method":
			if json.Unmarshal(value, &m.method) != nil {
				return message{}, notMessage()
			}
		}
	}
	m.call, m.opening = m.method != "" && m.id != nil, m.method == "initialize"
	m.method = loggedName(m.method)
	return m, nil
}

// loggedName returns the method for the log if the protocol defines it, and otherwise "answer" or "other".
func loggedName(method string) string {
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

// subscribe is the method of a call that stays open until the client closes it.
const subscribe = "subscriptions/listen"

// write writes the refusal as a JSON-RPC error, which ends only the call and not the session.
func (f *refusal) write(w http.ResponseWriter, id json.RawMessage) {
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((f.retry+time.Second-1)/time.Second))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	if id == nil {
		id = json.RawMessage("null")
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": f.code, "message": f.text},
	})
}

// busy returns a refusal that asks the client to try again.
func busy(text string) *refusal {
	return &refusal{
		status: http.StatusServiceUnavailable, code: jsonrpc.CodeInternalError, text: text, retry: time.Second,
	}
}
