package web

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// stream is an event stream's body as the SDK reads it.
type stream struct {
	body      io.ReadCloser
	events    *eventReader
	responses *responses
	call      jsonrpc.ID // valid if the stream is the response to one call
	resumable bool       // an event had an ID, from which the SDK can resume
	ended     bool
	err       error // why the stream ended before the response
	out       []byte
}

// follow returns a stream to read in place of body.
func (r *responses) follow(body io.ReadCloser, call jsonrpc.ID) *stream {
	return &stream{body: body, events: newEventReader(body, r.Limit), responses: r, call: call}
}

// Read implements [io.Reader]. It returns once there is an event.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		if s.ended {
			return 0, cmp.Or(s.err, io.EOF)
		}
		evt, err := s.events.next()
		if err != nil {
			if err := s.broken(err); err != nil {
				return 0, err
			}
			continue
		}
		s.translate(&evt)
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// copyTo writes the events to w, each in one piece, until the stream ends.
func (s *stream) copyTo(w io.Writer, note func(*event)) error {
	for {
		evt, err := s.events.next()
		if err != nil {
			return err
		}
		note(&evt)
		s.translate(&evt)
		if s.err != nil {
			return s.err
		}
		if _, err := w.Write(s.out); err != nil {
			return err
		}
		s.out = s.out[:0]
	}
}

// broken handles the end of the stream. Unless the SDK can resume the stream, its call fails.
func (s *stream) broken(err error) error {
	if !s.call.IsValid() || s.resumable {
		return err
	}
	s.ended = true
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	s.send(s.responses.fail(s.call, cutShort(err)))
	return nil
}

// translate appends the event to the output as the SDK should see it.
func (s *stream) translate(evt *event) {
	s.resumable = s.resumable || evt.id != ""
	switch {
	case evt.rejected != nil:
		s.send(s.fail(evt.rejected.Reject(), evt.rejected.Err()))
		return
	case evt.name == "endpoint" && s.responses.Type == SSE:
		address, err := s.responses.setMessages(string(bytes.TrimSpace(evt.data)))
		if err != nil {
			s.ended, s.err = true, err
			return
		}
		s.responses.established()
		evt.data = []byte(address)
	case evt.name != "" && evt.name != "message", len(evt.data) == 0:
		if evt.id == "" && evt.retry == "" {
			return
		}
		evt.name, evt.data = "", nil
	default:
		evt.name, evt.data = "", s.message(evt.data)
	}
	s.out = evt.append(s.out)
}

// message returns a message as the SDK should see it, or nil to hide it from the SDK.
func (s *stream) message(data []byte) []byte {
	msg, err := message.Decode(data)
	if err != nil {
		return s.fail(message.Reject(data, err), err)
	}
	if response, ok := msg.(*jsonrpc.Response); ok && response.ID == s.call && s.call.IsValid() {
		s.ended = true // whether or not the server keeps the stream open
	}
	return s.responses.receive(msg)
}

// fail returns an error response in place of a message that cannot be read, or nil if the call is unknown. The rejected
// response, which may be nil, has the ID of the call.
func (s *stream) fail(rejected *jsonrpc.Response, err error) []byte {
	id := s.call
	if rejected != nil {
		id = rejected.ID
	}
	if !id.IsValid() {
		return nil
	}
	if id == s.call {
		s.ended = true
	}
	return s.responses.fail(id, err)
}

func (s *stream) send(data []byte) {
	if data != nil {
		s.out = (&event{data: data}).append(s.out)
	}
}

// Close implements [io.Closer]. It reads the rest of a complete stream, which is usually short,
// so that the connection can be reused.
func (s *stream) Close() error {
	if !s.ended {
		return s.body.Close()
	}
	go func() {
		timer := time.AfterFunc(time.Second, func() { _ = s.body.Close() })
		defer timer.Stop()
		_, _ = io.CopyN(io.Discard, s.events.r, 64<<10)
		_ = s.body.Close()
	}()
	return nil
}
