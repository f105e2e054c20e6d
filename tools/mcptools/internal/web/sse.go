package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// openSSE opens the stream over which a server with protocol 2024-11-05 sends all responses. The SDK's request has the
// handshake's context. Its end must end only the wait for the address for messages, not the stream.
func (r *responses) openSSE(req *http.Request) (*http.Response, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(req.Context()))
	r.established = context.AfterFunc(req.Context(), cancel)
	resp, err := r.next.RoundTrip(req.WithContext(life))
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
			detail: fmt.Sprintf("it returned %q instead of an event stream",
				resp.Header.Get("Content-Type")) + checkURL,
		}
	}
	resp.Body = r.follow(resp.Body, jsonrpc.ID{})
	return resp, nil
}

// postSSE posts a message. A failure ends only the call; the SDK would end the session.
func (r *responses) postSSE(req *http.Request) (*http.Response, error) {
	msg, id, err := r.expect(req)
	if err != nil {
		return nil, err
	}
	defer r.Exchange.Answered(msg)
	markSent(req, id)
	resp, err := r.next.RoundTrip(req)
	if err == nil && (resp.StatusCode < 200 || resp.StatusCode > 299) {
		_ = resp.Body.Close()
		err = StatusError(resp)
	}
	call := message.CallOf(req.Context())
	switch {
	case err == nil, req.Context().Err() != nil, id.IsValid() && call == nil: // the handshake fails
		return resp, err
	case id.IsValid():
		r.hideSecrets(err)
		call.Abort(err)
	}
	return &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}
