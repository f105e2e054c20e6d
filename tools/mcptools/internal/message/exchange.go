package message

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonscan"
)

// Call receives one request's result as the server wrote it.
//
// The SDK decodes schemas and structured content into Go maps, which loses the order of
// properties and the exactness of integers, and it rejects a whole result because of one
// block of an unknown type. Therefore an [Exchange] keeps the bytes and gives the SDK an
// empty result.
type Call struct {
	Cancel context.CancelFunc // cancels the request
	ID     jsonrpc.ID         // of the request; set by [Exchange.Expect]

	// Result is the result as the server wrote it, or nil if the SDK has decoded it. It is valid once the request has
	// returned without an error.
	Result json.RawMessage

	lists bool                  // the request is tools/list
	asked atomic.Bool           // the result was a question to the client
	sent  atomic.Bool           // the server may have received the request
	err   atomic.Pointer[error] // why there is no result
}

// Lists reports whether the request lists tools.
func (c *Call) Lists() bool { return c.lists }

// Asked reports whether the result was a question to the client.
func (c *Call) Asked() bool { return c.asked.Load() }

// Sent reports whether the server may have received the request.
func (c *Call) Sent() bool { return c.sent.Load() }

// Err returns why there is no result, or nil if the SDK reports the reason.
func (c *Call) Err() error {
	if err := c.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Abort ends the request with an error.
func (c *Call) Abort(err error) {
	c.err.Store(&err)
	c.Cancel()
}

// MarkSent records that the server may receive the request. It reports whether that is the
// first time.
func (c *Call) MarkSent() bool { return c != nil && !c.sent.Swap(true) }

// MarkUnsent records that the server did not process the request.
func (c *Call) MarkUnsent() { c.sent.Store(false) }

type callKey struct{}

// WithCall returns a context for one request, whose result call receives.
func WithCall(ctx context.Context, call *Call) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// CallOf returns the context's call, or nil.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// MaxOpen is how many of a server's requests may wait for their responses at once. The SDK handles all requests
// concurrently.
const MaxOpen = 64

// ViolationError is a violation of the protocol after which the connection is closed. Its text follows the server's
// name in a message.
type ViolationError string

func (e ViolationError) Error() string { return string(e) + ", so its connection was closed" }

// ErrFlood is returned by [Exchange.Receive] for a request beyond [MaxOpen].
var ErrFlood = ViolationError(fmt.Sprintf("made more than %d requests at once", MaxOpen))

const cancelled = "notifications/cancelled"

// Exchange tracks the requests in both directions over one connection.
type Exchange struct {
	// Notify is called with the server's notifications. The SDK, which queues
	// notifications without a bound, receives only cancellations. If Notify is nil, the
	// SDK receives all notifications.
	Notify func(method string, params json.RawMessage)

	// Redact removes secrets from the server's error messages. It may be nil.
	Redact func(string) string

	mu    sync.Mutex
	calls map[jsonrpc.ID]*Call
	open  map[jsonrpc.ID]bool // the server's requests; false once canceled
}

// Expect registers the [Call] of the context for the response to the message, if the
// message is a request.
func (e *Exchange) Expect(ctx context.Context, msg jsonrpc.Message) {
	request, ok := msg.(*jsonrpc.Request)
	c := CallOf(ctx)
	if !ok || c == nil || !request.IsCall() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.calls == nil {
		e.calls = map[jsonrpc.ID]*Call{}
	}
	c.ID, c.lists = request.ID, request.Method == "tools/list"
	c.asked.Store(false)
	e.calls[request.ID] = c
}

// Forget removes a call whose result is not needed anymore.
func (e *Exchange) Forget(c *Call) { e.take(c.ID) }

// Pending returns the number of calls that wait for their results.
func (e *Exchange) Pending() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.calls)
}

func (e *Exchange) take(id jsonrpc.ID) *Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.calls[id]
	delete(e.calls, id)
	return c
}

// Fail records why the call with the ID has no result.
func (e *Exchange) Fail(id jsonrpc.ID, err error) {
	if c := e.take(id); c != nil {
		c.err.Store(&err)
	}
}

// Answered records that the response to one of the server's requests has been sent. Call it after sending, because some
// servers do not read their responses.
func (e *Exchange) Answered(msg jsonrpc.Message) {
	if response, ok := msg.(*jsonrpc.Response); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.open, response.ID)
	}
}

// Receive processes a message from the server and reports whether the SDK should see it.
// It returns [ErrFlood] if too many requests are open.
func (e *Exchange) Receive(msg jsonrpc.Message) (bool, error) {
	request, ok := msg.(*jsonrpc.Request)
	if !ok {
		e.fill(msg.(*jsonrpc.Response))
		return true, nil
	}
	if request.IsCall() {
		if deliver, err := e.begin(request.ID); !deliver {
			return false, err
		}
	}
	switch {
	case request.Method == cancelled && !e.cancel(request.Params):
		return false, nil // the SDK does not know the request
	case !request.IsCall() && request.Method != cancelled && e.Notify != nil:
		e.Notify(request.Method, request.Params)
		return false, nil
	}
	if TooManyValues(request.Params) {
		request.Params = nil // the SDK then reports that the parameters are missing
	}
	return true, nil
}

// begin registers a request from the server and reports whether the SDK should see it. It drops a request that has the
// ID of an open request: the SDK would handle both requests, but they would count only once toward [MaxOpen].
func (e *Exchange) begin(id jsonrpc.ID) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open = map[jsonrpc.ID]bool{}
	}
	if _, open := e.open[id]; open {
		return false, nil
	}
	if len(e.open) == MaxOpen {
		return false, ErrFlood
	}
	e.open[id] = true
	return true, nil
}

// cancel marks the request to which a cancellation refers. It reports whether the request is
// open and was not canceled before.
func (e *Exchange) cancel(params json.RawMessage) bool {
	var raw json.RawMessage
	if jsonscan.Object(params, jsonscan.Fields{"requestId": &raw}) != nil {
		return false
	}
	id, err := decodeID(raw)
	if err != nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	open := e.open[id]
	if open {
		e.open[id] = false
	}
	return open
}

// closedCodes are the error codes that the SDK uses when its own connection is closed. A server's error with such a
// code must not look like a call that was never made.
var closedCodes = []int64{-32003, -32004}

var errNoResult = errors.New("it has neither a result nor an error")

// fill moves a response's result to the call that waits for it.
func (e *Exchange) fill(response *jsonrpc.Response) {
	wire, isWire := errors.AsType[*jsonrpc.Error](response.Error)
	if isWire {
		wire.Message = Truncate(wire.Message)
		if e.Redact != nil {
			wire.Message = e.Redact(wire.Message)
		}
	}
	c := e.take(response.ID)
	switch {
	case c == nil:
	case response.Error != nil:
		if isWire && slices.Contains(closedCodes, wire.Code) {
			c.err.Store(&response.Error)
		}
	case jsonscan.Present(response.Result) == nil: // the SDK would accept it as an empty result
		var err error = &FormatError{errNoResult}
		c.err.Store(&err)
		response.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	case wantsInput(response.Result):
		c.asked.Store(true)
	case c.lists && WantsHeaders(response.Result):
		c.Result = response.Result // the SDK needs the tools to send arguments as headers (protocol 2026-07-28)
	default:
		c.Result, response.Result = response.Result, json.RawMessage(`{}`)
	}
	if !TooManyValues(response.Result) {
		return
	}
	var err error = &SizeError{Limit: MaxDecoded, Unit: "JSON values"}
	response.Result, response.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	if c != nil {
		c.asked.Store(false)
		c.err.Store(&err)
	}
}

// WantsHeaders reports whether a listing may have tools whose arguments are sent as headers.
func WantsHeaders(listing json.RawMessage) bool {
	return bytes.Contains(listing, []byte(`"x-mcp-header"`))
}

// wantsInput reports whether a result is a question to the client. The SDK answers it by
// repeating the request with the answer (protocol 2026-07-28).
func wantsInput(result json.RawMessage) bool {
	if !bytes.Contains(result, []byte(`"input_required"`)) {
		return false
	}
	var head struct {
		ResultType string `json:"resultType"`
	}
	return json.Unmarshal(result, &head) == nil && head.ResultType == "input_required"
}

// maxText limits an error message, in bytes.
const maxText = 16 << 10

// Truncate shortens an error message that is too long.
func Truncate(text string) string { return display.Cut(text, maxText) }
