package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// How long to wait before the standalone stream is opened again.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// openStandalone returns the standalone stream, over which a server with protocol 2025-11-25 or older sends messages
// that belong to no call, such as that its tools have changed.
//
// Without this function, the SDK would wait for the first bytes of the stream during the handshake,
// ignoring the context, and end the session after proxies have cut a few streams. This stream opens
// in the background, reopens when it ends, and is silent if the server has no standalone stream.
func (r *responses) openStandalone(req *http.Request) *http.Response {
	reader, writer := io.Pipe()
	s := &standalone{responses: r, req: req, out: writer, first: firstPause, pause: firstPause}
	context.AfterFunc(req.Context(), func() { _ = writer.CloseWithError(req.Context().Err()) })
	go s.run()
	return streamResponse(req, reader)
}

type standalone struct {
	responses *responses
	req       *http.Request
	out       *io.PipeWriter
	first     time.Duration // the first pause
	pause     time.Duration
	last      string // ID of the last event
}

// errNoStream reports that a server has no standalone stream.
var errNoStream = errors.New("no standalone stream")

// run opens the stream repeatedly until the connection ends or the server has no such stream.
func (s *standalone) run() {
	ctx := s.req.Context()
	for {
		err := s.read()
		if errors.Is(err, errNoStream) || errors.Is(err, io.ErrClosedPipe) || ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(s.pause):
		case <-ctx.Done():
			return
		}
		s.pause = min(2*s.pause, lastPause)
	}
}

// read opens one stream and reads it to its end.
func (s *standalone) read() error {
	req := s.req.Clone(s.req.Context())
	if s.last != "" {
		req.Header.Set(lastEventHeader, s.last)
	}
	resp, err := s.responses.next.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if !isStream(resp) {
		return errNoStream
	}
	opened := time.Now()
	err = s.responses.follow(resp.Body, jsonrpc.ID{}).copyTo(s.out, s.note)
	if time.Since(opened) > lastPause/2 {
		s.pause = s.first // a proxy has probably closed the stream
	}
	return err
}

// note records what is needed to reopen the stream.
func (s *standalone) note(evt *event) {
	s.pause = s.first // the stream works
	if evt.id != "" {
		s.last = evt.id
	}
	if ms, err := strconv.Atoi(evt.retry); err == nil && ms > 0 {
		s.pause = min(max(time.Duration(ms)*time.Millisecond, firstPause), lastPause)
	}
}
