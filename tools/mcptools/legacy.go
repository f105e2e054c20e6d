package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectSSE connects to a server of protocol 2024-11-05: messages are posted,
// and all answers come over one stream. The SDK's stream ends with the context
// that it was opened under, which is that of the handshake; this one lives
// until the connection is closed.
func connectSSE(ctx context.Context, t *mcp.SSEClientTransport) (mcp.Connection, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	conn, err := t.Connect(life)
	if err == nil && !stop() {
		_ = conn.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &sseConn{Connection: conn, cancel: cancel}, nil
}

type sseConn struct {
	mcp.Connection
	cancel context.CancelFunc
}

// Close implements [mcp.Connection].
func (c *sseConn) Close() error {
	defer c.cancel()
	return c.Connection.Close()
}

// listen opens the stream of a legacy server.
func (a *answers) listen(req *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		_ = resp.Body.Close()
		return nil, statusError(resp)
	case !isStream(resp):
		_ = resp.Body.Close()
		return nil, &webError{
			elsewhere: true,
			message:   "the tool's server is none; nothing was done",
			detail:    fmt.Sprintf("it answers with %q instead of an event stream", resp.Header.Get("Content-Type")),
		}
	}
	body := resp.Body
	r, w := io.Pipe()
	a.stream = w
	go func() {
		err := a.follow(body, jsonrpc.ID{}).copyTo(w, func(*event) {})
		_ = w.CloseWithError(err)
	}()
	resp.Body = &pipedBody{PipeReader: r, from: body}
	return resp, nil
}

type pipedBody struct {
	*io.PipeReader
	from io.Closer
	once sync.Once
}

// Close implements [io.Closer].
func (b *pipedBody) Close() error {
	b.once.Do(func() { _ = b.from.Close() })
	return b.PipeReader.Close()
}

// postLegacy posts a message. What fails is answered over the stream: the SDK
// would end the session.
func (a *answers) postLegacy(req *http.Request) (*http.Response, error) {
	id, answered, err := a.expect(req)
	if err != nil {
		return nil, err
	}
	defer answered()
	if id.IsValid() {
		replyOf(req.Context()).leaves()
	}
	resp, err := a.next.RoundTrip(req)
	if err == nil && (resp.StatusCode < 200 || resp.StatusCode > 299) {
		_ = resp.Body.Close()
		err = statusError(resp)
	}
	if err == nil || req.Context().Err() != nil {
		return resp, err
	}
	if _, ok := errors.AsType[*webError](err); !ok || a.stream == nil {
		return nil, err
	}
	if id.IsValid() {
		failed := event{data: a.fail(id, err)}
		go func() { _, _ = a.stream.Write(failed.append(nil)) }() // the stream may be full
	}
	return &http.Response{
		Status: "202 Accepted", StatusCode: http.StatusAccepted,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}
