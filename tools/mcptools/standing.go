package mcptools

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// How long to wait before a standing stream is opened again.
const (
	reopenFirst = time.Second
	reopenLast  = time.Minute
)

// stand returns the standing stream, over which a server of 2025-11-25 or older
// sends what belongs to no call, such as that its tools have changed.
//
// The SDK waits for its first bytes in the middle of the handshake, whatever
// the context says, and ends the session after a few streams that a proxy has
// cut. This one is opened once it is read, opened again when it ends, and is
// merely silent where a server offers none.
func (a *answers) stand(req *http.Request) *http.Response {
	r, w := io.Pipe()
	s := &standing{answers: a, req: req, out: w, wait: reopenFirst}
	context.AfterFunc(req.Context(), func() { _ = w.CloseWithError(req.Context().Err()) })
	go s.run()
	return streamOf(req, r)
}

type standing struct {
	answers *answers
	req     *http.Request
	out     *io.PipeWriter
	wait    time.Duration
	last    string // id of the last event
}

// errNoStream says that a server offers no standing stream.
var errNoStream = errors.New("no standing stream")

// run ends with the context of the connection.
func (s *standing) run() {
	ctx := s.req.Context()
	for {
		err := s.open()
		if errors.Is(err, errNoStream) || errors.Is(err, io.ErrClosedPipe) || ctx.Err() != nil {
			return
		}
		timer := time.NewTimer(s.wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		s.wait = min(2*s.wait, reopenLast)
	}
}

// open reads one stream to its end.
func (s *standing) open() error {
	req := s.req.Clone(s.req.Context())
	if s.last != "" {
		req.Header.Set(lastEventHeader, s.last)
	}
	resp, err := s.answers.next.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if !isStream(resp) {
		return errNoStream
	}
	opened := time.Now()
	err = s.answers.follow(resp.Body, jsonrpc.ID{}).copyTo(s.out, s.note)
	if time.Since(opened) > reopenLast/2 {
		s.wait = reopenFirst // a proxy has cut it
	}
	return err
}

// note keeps what is needed to open the stream again.
func (s *standing) note(evt *event) {
	s.wait = reopenFirst // it does work
	if evt.id != "" {
		s.last = evt.id
	}
	if ms, err := strconv.Atoi(evt.retry); err == nil && ms > 0 {
		s.wait = min(max(time.Duration(ms)*time.Millisecond, reopenFirst), reopenLast)
	}
}
