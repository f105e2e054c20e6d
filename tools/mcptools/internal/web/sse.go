package web

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

// connectSSE connects to a server of protocol 2024-11-05: messages are posted, and all responses
// come over one stream. The SDK's stream ends with the context of the handshake; this one lives
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

// openSSE opens the stream of responses.
func (r *responses) openSSE(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		_ = resp.Body.Close()
		return nil, StatusError(resp)
	case !isStream(resp):
		_ = resp.Body.Close()
		return nil, &Error{
			otherTransport: true,
			message:        "not an MCP server" + notMade,
			detail: fmt.Sprintf("it answers with %q instead of an event stream",
				resp.Header.Get("Content-Type")) + checkURL,
		}
	}
	body := resp.Body
	reader, writer := io.Pipe()
	r.sse = writer
	go func() {
		err := r.follow(body, jsonrpc.ID{}).copyTo(writer, func(*event) {})
		_ = writer.CloseWithError(err)
	}()
	resp.Body = &pipedBody{PipeReader: reader, source: body}
	return resp, nil
}

type pipedBody struct {
	*io.PipeReader
	source io.Closer
	once   sync.Once
}

// Close implements [io.Closer].
func (b *pipedBody) Close() error {
	b.once.Do(func() { _ = b.source.Close() })
	return b.PipeReader.Close()
}

// postSSE posts a message. It reports a failure over the stream: the SDK would end the session.
func (r *responses) postSSE(req *http.Request) (*http.Response, error) {
	id, sent, err := r.expect(req)
	if err != nil {
		return nil, err
	}
	defer sent()
	markSent(req, id)
	resp, err := r.next.RoundTrip(req)
	if err == nil && (resp.StatusCode < 200 || resp.StatusCode > 299) {
		_ = resp.Body.Close()
		err = StatusError(resp)
	}
	if err == nil || req.Context().Err() != nil {
		return resp, err
	}
	if _, ok := errors.AsType[*Error](err); !ok || r.sse == nil {
		return nil, err
	}
	if id.IsValid() {
		failed := event{data: r.fail(id, err)}
		go func() { _, _ = r.sse.Write(failed.append(nil)) }() // the stream may be full
	}
	return &http.Response{
		Status: "202 Accepted", StatusCode: http.StatusAccepted,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}
