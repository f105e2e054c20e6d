package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// answers stands between the SDK's HTTP transports and the network. It fills
// replies from the bodies that pass, and keeps one bad answer from ending the
// session, as it would with the SDK: an answer that is too large, cut short or
// no JSON-RPC becomes the error of its own call.
type answers struct {
	next    http.RoundTripper
	replies *replies
	limit   int           // bytes of one message
	grace   time.Duration // for the answer to the end of the session; zero for no bound
	open    openRequests  // those beyond its bound are dropped
	secrets *secrets      // nil for none
	legacy  bool          // the transport of 2024-11-05: all answers come over one stream

	// moved is told where a legacy server wants its messages, and says what
	// the SDK is to be told. Nil leaves it to the SDK.
	moved  func(endpoint string) (string, error)
	stream *io.PipeWriter // of a legacy server
}

// tapClient returns a client that does as c does, and has its answers tapped.
func tapClient(c *http.Client, a *answers) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	tapped := *c
	a.next = c.Transport
	if a.next == nil {
		a.next = http.DefaultTransport
	}
	tapped.Transport = a
	return &tapped
}

// RoundTrip implements [http.RoundTripper].
func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := a.roundTrip(req)
	a.hush(err)
	return resp, err
}

// hush keeps secrets out of the text of an error.
func (a *answers) hush(err error) {
	if web, ok := errors.AsType[*webError](err); ok {
		web.secrets = a.secrets
	}
}

func (a *answers) roundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method == http.MethodPost && a.legacy:
		return a.postLegacy(req)
	case req.Method == http.MethodPost:
		return a.post(req)
	case req.Method == http.MethodGet && a.legacy:
		return a.listen(req)
	case req.Method == http.MethodGet && req.Header.Get(lastEventHeader) == "":
		return a.stand(req), nil
	case req.Method == http.MethodGet:
		return a.resume(req)
	case req.Method == http.MethodDelete && a.grace > 0:
		return a.leave(req)
	}
	return a.next.RoundTrip(req)
}

// leave ends the session. Whether the server heeds that is its own affair.
func (a *answers) leave(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), a.grace)
	defer cancel()
	resp, err := a.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	resp.Body = http.NoBody
	return resp, nil
}

// Headers of the protocol.
const (
	sessionHeader   = "Mcp-Session-Id"
	lastEventHeader = "Last-Event-ID"
)

func (a *answers) post(req *http.Request) (*http.Response, error) {
	id, answered, err := a.expect(req)
	if err != nil {
		return nil, err
	}
	defer answered()
	first := id.IsValid() && replyOf(req.Context()).leaves()
	resp, err := a.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		resp, err := a.refused(resp, id)
		if first && err == nil && resp.StatusCode == http.StatusNotFound {
			replyOf(req.Context()).returns() // the session was lost before
		}
		return resp, err
	case !id.IsValid() || a.legacy:
		return resp, nil // nothing to read
	}
	body, err := a.body(resp, id)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	resp.Body, resp.ContentLength = body, -1
	return resp, nil
}

// expect returns the id of the call in the request's body, if it is one, and
// what to do once the request has been made.
func (a *answers) expect(req *http.Request) (id jsonrpc.ID, after func(), err error) {
	after = func() {}
	msg, err := messageIn(req)
	if err != nil {
		return id, after, err
	}
	a.replies.expect(req.Context(), msg)
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		id = msg.ID
	case *jsonrpc.Response: // until then it counts: not all servers read
		after = func() { a.open.answered(msg.ID) }
	}
	return id, after, nil
}

// messageIn returns the message in the body of a request; nil for none.
func messageIn(req *http.Request) (jsonrpc.Message, error) {
	if req.GetBody == nil {
		return nil, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(data)
}

// body returns what the SDK is to read in place of an answer's body.
func (a *answers) body(resp *http.Response, id jsonrpc.ID) (io.ReadCloser, error) {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case media == "text/event-stream":
		return a.follow(resp.Body, id), nil
	case media == "", media == "text/plain", media == "application/json", strings.HasSuffix(media, "+json"):
		resp.Header.Set("Content-Type", "application/json") // some servers leave it out
		source := resp.Body
		return &lazyBody{source: source, read: func() []byte { return a.document(source, id) }}, nil
	}
	return nil, &webError{
		unknown: true,
		message: "the answer is no MCP message; whether the call took effect is unknown",
		detail:  fmt.Sprintf("it answers with %s instead of JSON; see that the URL is that of an MCP server", media),
	}
}

// lazyBody is a body that is made when it is read, outside of RoundTrip, which
// the context of the handshake does not reach.
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

// document reads an answer that is one JSON document.
func (a *answers) document(body io.Reader, id jsonrpc.ID) []byte {
	scan := messageScan()
	data, err := io.ReadAll(io.TeeReader(io.LimitReader(body, int64(a.limit)+1), &scan))
	switch dense := excess(err); {
	case dense != nil:
		return a.fail(id, dense)
	case err != nil:
		return a.fail(id, cutShort(err))
	case len(data) > a.limit:
		return a.fail(id, &sizeError{limit: a.limit})
	}
	msg, err := decodeFor(data, id)
	if err != nil {
		return a.fail(id, err)
	}
	return a.pass(msg)
}

// decodeFor returns the message of a document; of a batch the answer to id.
func decodeFor(data []byte, id jsonrpc.ID) (jsonrpc.Message, error) {
	if !isBatch(data) {
		msg, err := decodeMessage(data)
		if response, ok := msg.(*jsonrpc.Response); err == nil && (!ok || response.ID != id) {
			return nil, &formError{errors.New("it answers another call")}
		}
		return msg, err
	}
	batch, err := decodeBatch(data)
	if err != nil {
		return nil, err
	}
	for _, msg := range batch {
		if response, ok := msg.(*jsonrpc.Response); ok && response.ID == id {
			return msg, nil
		}
	}
	return nil, &formError{errors.New("the batch has no answer to the call")}
}

// pass returns a message as the SDK is to see it.
func (a *answers) pass(msg jsonrpc.Message) []byte {
	if a.replies.hears(msg) || !a.open.admits(msg) {
		return nil
	}
	a.hideIn(msg)
	a.replies.fill(msg)
	data, err := jsonrpc.EncodeMessage(msg)
	if response, ok := msg.(*jsonrpc.Response); ok && err != nil {
		return a.fail(response.ID, &formError{err})
	}
	return data
}

// hideIn keeps secrets out of what becomes an error.
func (a *answers) hideIn(msg jsonrpc.Message) {
	response, _ := msg.(*jsonrpc.Response)
	if response == nil {
		return
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](response.Error); ok {
		wire.Message = a.secrets.hide(cutMessage(wire.Message))
	}
}

// fail returns an answer that says why there is none, and tells it to who
// waits.
func (a *answers) fail(id jsonrpc.ID, why error) []byte {
	a.hush(why)
	if r := a.replies.take(id); r != nil {
		r.why.Store(&why)
	}
	data, err := jsonrpc.EncodeMessage(&jsonrpc.Response{
		ID:    id,
		Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why.Error()},
	})
	if err != nil {
		panic(err) // unreachable: an id and a text
	}
	return data
}

// cutShort is an answer that began and did not end.
func cutShort(err error) error {
	return &webError{
		unknown: true,
		message: "the connection to the tool's server was lost; whether it took effect is unknown",
		detail:  "the connection was lost in the middle of an answer",
		err:     err,
	}
}

// maxRefusal bounds what is read of an answer that is an error.
const maxRefusal = 64 << 10

// refused makes of an HTTP error what it means: the JSON-RPC error in its body,
// the end of the session, or the status itself.
func (a *answers) refused(resp *http.Response, id jsonrpc.ID) (*http.Response, error) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what cannot be read explains nothing
	_ = resp.Body.Close()
	var answer refusal
	if json.Unmarshal(body, &answer) != nil {
		answer = refusal{} // no JSON-RPC
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
	case resp.Request.Header.Get(sessionHeader) != "" && answer.lost(resp.StatusCode):
		resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found" // by which the SDK knows it
		resp.Body = http.NoBody
		return resp, nil
	case answer.Error != nil && id.IsValid():
		resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
		resp.Header.Set("Content-Type", "application/json")
		resp.Body = io.NopCloser(bytes.NewReader(a.pass(&jsonrpc.Response{ID: id, Error: answer.Error})))
		resp.ContentLength = -1
		return resp, nil
	}
	return nil, statusError(resp)
}

// refusal is a JSON-RPC error in the body of an HTTP error. Its id is null where
// the server did not get as far as the call.
type refusal struct {
	ID    json.RawMessage `json:"id"`
	Error *jsonrpc.Error  `json:"error"`
}

// forgotten is what servers written after the first examples of the TypeScript
// and Python SDKs say of a session that they do not know, with a 400.
const forgotten = "Bad Request: No valid session ID provided"

// lost reports whether a server says that it does not know the session, for
// which the protocol has 404.
func (r *refusal) lost(status int) bool {
	switch {
	case present(r.ID) != nil: // it answers the call
		return false
	case status == http.StatusBadRequest:
		return r.Error != nil && r.Error.Message == forgotten
	}
	return status == http.StatusNotFound
}

// resume asks for the rest of a stream that broke off. A server that has it not
// fails one call, not the session.
func (a *answers) resume(req *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(req)
	r := replyOf(req.Context())
	switch {
	case err != nil, r == nil:
		return resp, err
	case isStream(resp):
		resp.Body = a.follow(resp.Body, r.id)
		return resp, nil
	}
	_ = resp.Body.Close()
	lost := event{data: a.fail(r.id, cutShort(statusError(resp)))}
	return streamOf(req, io.NopCloser(bytes.NewReader(lost.append(nil)))), nil
}

func isStream(resp *http.Response) bool {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && media == "text/event-stream"
}

// streamOf is a response that is an event stream.
func streamOf(req *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"text/event-stream"}},
		Body:          body,
		ContentLength: -1,
		Request:       req,
	}
}
