package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// Headers of the protocol.
const (
	sessionHeader   = "Mcp-Session-Id"
	lastEventHeader = "Last-Event-ID"
)

// responses is the [http.RoundTripper] between the SDK's HTTP transports and the endpoint. It passes the responses to
// the exchange. A response that is too large, truncated or not JSON-RPC becomes the error of its own call; the SDK
// would end the session.
type responses struct {
	*Config
	next http.RoundTripper

	// For the old transport: setMessages receives the address for messages and returns the address
	// that the SDK sees; established ends the handshake of the stream.
	setMessages func(address string) (string, error)
	established func() bool
}

// RoundTrip implements [http.RoundTripper].
func (r *responses) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.roundTrip(req)
	r.hideSecrets(err)
	return resp, err
}

// hideSecrets keeps secrets out of an error message.
func (r *responses) hideSecrets(err error) {
	if e, ok := errors.AsType[*Error](err); ok {
		e.secrets = r.Secrets
	}
}

func (r *responses) roundTrip(req *http.Request) (*http.Response, error) {
	old := r.Type == SSE
	switch {
	case req.Method == http.MethodPost && old:
		return r.postSSE(req)
	case req.Method == http.MethodPost:
		return r.post(req)
	case req.Method == http.MethodGet && old:
		return r.openSSE(req)
	case req.Method == http.MethodGet && req.Header.Get(lastEventHeader) == "":
		return r.openStandalone(req), nil
	case req.Method == http.MethodGet:
		return r.resume(req)
	case req.Method == http.MethodDelete:
		return r.endSession(req)
	}
	return r.next.RoundTrip(req)
}

// endSession sends the DELETE request that ends the session, and waits at most the grace period for the response.
func (r *responses) endSession(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), r.Grace)
	defer cancel()
	resp, err := r.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	resp.Body = http.NoBody
	return resp, nil
}

// markSent records that the server may receive a call. It reports whether that is the first time.
func markSent(req *http.Request, id jsonrpc.ID) bool {
	return id.IsValid() && message.CallOf(req.Context()).MarkSent()
}

func (r *responses) post(req *http.Request) (*http.Response, error) {
	msg, id, err := r.expect(req)
	if err != nil {
		return nil, err
	}
	defer r.Exchange.Answered(msg)
	first := markSent(req, id)
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		resp, err := r.refused(resp, id)
		if first && err == nil && resp.StatusCode == http.StatusNotFound {
			message.CallOf(req.Context()).MarkUnsent() // the session was lost before this request
		}
		return resp, err
	case !id.IsValid():
		return resp, nil // there is nothing to read
	}
	body, err := r.body(resp, id)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	resp.Body, resp.ContentLength = body, -1
	return resp, nil
}

// expect returns the message in the request's body, or nil without a body. If the message is a call, expect also
// returns its ID and registers the call for its response.
func (r *responses) expect(req *http.Request) (msg jsonrpc.Message, id jsonrpc.ID, err error) {
	if req.GetBody == nil {
		return nil, id, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, id, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, id, err
	}
	msg, err = jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, id, err
	}
	r.Exchange.Expect(req.Context(), msg)
	if call, ok := msg.(*jsonrpc.Request); ok {
		id = call.ID
	}
	return msg, id, nil
}

// body returns what the SDK reads in place of a response's body.
func (r *responses) body(resp *http.Response, id jsonrpc.ID) (io.ReadCloser, error) {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case media == "text/event-stream":
		return r.follow(resp.Body, id), nil
	case media == "", media == "text/plain", media == "application/json", strings.HasSuffix(media, "+json"):
		resp.Header.Set("Content-Type", "application/json") // some servers leave it out
		source := resp.Body
		return &lazyBody{source: source, read: func() []byte { return r.document(source, id) }}, nil
	}
	return nil, &Error{
		unknown: true,
		message: "the response is not an MCP message" + effectUnknown,
		detail:  fmt.Sprintf("it returned %s instead of JSON", media) + checkURL,
	}
}

// lazyBody reads its source only when the SDK reads it: after RoundTrip, when the deadline of the handshake no longer
// applies.
type lazyBody struct {
	source io.Closer
	read   func() []byte
	rest   *bytes.Reader
}

// Read implements [io.Reader].
func (b *lazyBody) Read(p []byte) (int, error) {
	if b.rest == nil {
		b.rest = bytes.NewReader(b.read())
	}
	return b.rest.Read(p)
}

// Close implements [io.Closer].
func (b *lazyBody) Close() error { return b.source.Close() }

// document reads a response that is one JSON document.
func (r *responses) document(body io.Reader, id jsonrpc.ID) []byte {
	buffer := message.NewBuffer(r.Limit)
	_, err := io.Copy(buffer, body)
	if tooLarge := buffer.Err(); tooLarge != nil {
		if size, ok := errors.AsType[*message.SizeError](tooLarge); ok {
			size.Size = 0 // reading stopped at the limit
		}
		return r.fail(id, tooLarge)
	}
	if err != nil {
		return r.fail(id, cutShort(err))
	}
	msg, err := responseTo(id, buffer.Bytes())
	if err != nil {
		return r.fail(id, err)
	}
	return r.receive(msg)
}

// responseTo decodes the response to the call with the ID.
func responseTo(id jsonrpc.ID, data []byte) (jsonrpc.Message, error) {
	msg, err := message.Decode(data)
	if response, ok := msg.(*jsonrpc.Response); err == nil && (!ok || response.ID != id) {
		return nil, &message.FormatError{Err: errors.New("it belongs to another call")}
	}
	return msg, err
}

// receive returns a message as the SDK should see it, or nil to hide it from the SDK. Requests beyond [message.MaxOpen]
// are dropped.
func (r *responses) receive(msg jsonrpc.Message) []byte {
	if deliver, err := r.Exchange.Receive(msg); err != nil || !deliver {
		return nil
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if response, ok := msg.(*jsonrpc.Response); ok && err != nil {
		return r.fail(response.ID, &message.FormatError{Err: err})
	}
	return data
}

// fail returns an error response for a call, and records the error for its caller.
func (r *responses) fail(id jsonrpc.ID, err error) []byte {
	r.hideSecrets(err)
	r.Exchange.Fail(id, err)
	data, encodeErr := jsonrpc.EncodeMessage(&jsonrpc.Response{
		ID:    id,
		Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()},
	})
	if encodeErr != nil {
		panic(encodeErr) // unreachable: an ID and a string
	}
	return data
}

// cutShort returns the error for a response that ended too early.
func cutShort(err error) error {
	return &Error{
		unknown: true,
		message: connectionLost,
		detail:  "the connection was lost in the middle of a response",
		err:     err,
	}
}

// maxErrorBody is how many bytes are read from an HTTP error's body.
const maxErrorBody = 64 << 10

// refused interprets an HTTP error: the JSON-RPC error in its body, the end of the session, or
// the status itself.
func (r *responses) refused(resp *http.Response, id jsonrpc.ID) (*http.Response, error) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // the body is optional
	_ = resp.Body.Close()
	var parsed errorBody
	if json.Unmarshal(body, &parsed) != nil {
		parsed = errorBody{} // not JSON-RPC
	}
	switch {
	case (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) && !parsed.answers():
	case resp.Request.Header.Get(sessionHeader) != "" && parsed.sessionLost(resp.StatusCode, body):
		resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found" // the SDK recognizes it
		resp.Body = http.NoBody
		return resp, nil
	case parsed.Error != nil && id.IsValid():
		if resp.StatusCode >= 500 { // the error may come from a proxy, or from a crash in the middle of a call
			failed := StatusError(resp)
			failed.err, failed.secrets = errors.New(message.Truncate(parsed.Error.Message)), r.Secrets
			r.Exchange.Fail(id, failed)
		}
		resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
		resp.Header.Set("Content-Type", "application/json")
		resp.Body = io.NopCloser(bytes.NewReader(r.receive(&jsonrpc.Response{ID: id, Error: parsed.Error})))
		resp.ContentLength = -1
		return resp, nil
	}
	return nil, StatusError(resp)
}

// answers reports whether the error belongs to a request that the server has read.
func (b *errorBody) answers() bool { return b.Error != nil && len(b.ID) > 0 && string(b.ID) != "null" }

// errorBody is a JSON-RPC error in an HTTP error's body. Its ID is null, or "server-error" in Python, if the server did
// not read the call.
type errorBody struct {
	ID    json.RawMessage `json:"id"`
	Error *jsonrpc.Error  `json:"error"`
}

// sessionUnknown are the messages with which the TypeScript, Python and C# SDKs report an unknown session, with status
// 400 or 404. Their servers do not read such a request.
var sessionUnknown = []string{
	"Bad Request: No valid session ID provided", "Bad Request: Server not initialized", "Session not found",
}

// sessionLost reports whether the server does not know the session. The protocol prescribes 404.
func (b *errorBody) sessionLost(status int, body []byte) bool {
	text := string(bytes.TrimSpace(body))
	if b.Error != nil {
		text = b.Error.Message
	}
	known := slices.Contains(sessionUnknown, text)
	if id := string(jsonscan.Present(b.ID)); id != "" && id != `"server-error"` { // the error belongs to the call
		return known && status == http.StatusNotFound && b.Error.Code == -32001 // C#
	}
	return status == http.StatusNotFound || known && status == http.StatusBadRequest
}

// resume requests the rest of a broken stream. If the server does not have it, one call fails and
// the session continues.
func (r *responses) resume(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	call := message.CallOf(req.Context())
	switch {
	case err != nil, call == nil:
		return resp, err
	case isStream(resp):
		resp.Body = r.follow(resp.Body, call.ID)
		return resp, nil
	}
	_ = resp.Body.Close()
	lost := event{data: r.fail(call.ID, cutShort(StatusError(resp)))}
	return streamResponse(req, io.NopCloser(bytes.NewReader(lost.append(nil)))), nil
}

func isStream(resp *http.Response) bool {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && media == "text/event-stream"
}

// streamResponse returns a response that is an event stream.
func streamResponse(req *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"text/event-stream"}},
		Body:          body,
		ContentLength: -1,
		Request:       req,
	}
}
