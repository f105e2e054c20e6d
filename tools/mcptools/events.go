package mcptools

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// event is one server-sent event.
type event struct {
	name, id, retry string
	data            []byte
	tail            []byte    // the end of data that did not fit
	size            int       // bytes of all its data
	dense           error     // why the rest of data was not kept, if its size does not say it
	long            *longLine // in place of data that is too large
}

// eventReader splits a stream into events and never holds more than max bytes
// of one, and a little. It reads what the standard allows, of which the SDK
// understands less: fields without a colon, a byte order mark, and single
// carriage returns at the end of lines.
type eventReader struct {
	r       *bufio.Reader
	max     int
	started bool
	afterCR bool // the last line ended in a carriage return
}

func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10), max: limit}
}

// patience is how many times as large as allowed an event may be before its end,
// which may say what it answers, is no longer waited for.
const patience = 16

// next returns the next event. At the end of the stream an event that is not
// complete is dropped, as the standard says.
func (e *eventReader) next() (event, error) {
	var evt event
	for {
		room := max(0, e.max+edge-evt.size)
		line, err := e.line(max(maxField, room))
		switch {
		case err != nil:
			return event{}, err
		case line.size > 0:
			if evt.add(line, room); evt.size > patience*e.max+1<<20 {
				return evt.within(e.max), nil // what follows is taken for another
			}
		case !evt.empty():
			return evt.within(e.max), nil
		}
	}
}

// line returns the next line, of which head holds at most room bytes and tail
// the end of what that leaves out.
func (e *eventReader) line(room int) (longLine, error) {
	var line longLine
	scan := messageScan()
	extend := func(part []byte) {
		if _, err := scan.Write(part); err != nil {
			line.why, room = excess(err), 0
		}
		line.extend(part, room)
	}
	for {
		if _, err := e.r.Peek(1); err != nil {
			return longLine{}, err
		}
		part, _ := e.r.Peek(e.r.Buffered())
		second := e.afterCR && part[0] == '\n' // the second half of an end already seen
		e.afterCR = false
		if second {
			_, _ = e.r.Discard(1)
			continue
		}
		stop := bytes.IndexAny(part, "\r\n")
		if stop < 0 {
			extend(part)
			_, _ = e.r.Discard(len(part))
			continue
		}
		extend(part[:stop])
		e.afterCR = part[stop] == '\r'
		_, _ = e.r.Discard(stop + 1)
		if !e.started {
			e.started = true
			line.head = bytes.TrimPrefix(line.head, []byte("\ufeff"))
		}
		return line, nil
	}
}

// extend adds a part to a line.
func (l *longLine) extend(part []byte, room int) {
	l.size += len(part)
	fits := min(len(part), max(0, room-len(l.head)))
	l.head = grown(l.head, part[:fits])
	if rest := part[fits:]; len(rest) > 0 {
		l.tail = append([]byte(nil), end(append(l.tail, end(rest)...))...)
	}
}

// end returns the end of a text, of which more is not looked at.
func end(text []byte) []byte { return text[max(0, len(text)-edge):] }

func (e *event) empty() bool {
	return e.name == "" && e.id == "" && e.retry == "" && e.data == nil
}

// maxField bounds the fields beside the data, in bytes. What is longer is left
// out.
const maxField = 1 << 10

// add takes in a line, of data at most room bytes.
func (e *event) add(line longLine, room int) {
	field, value, _ := bytes.Cut(line.head, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	if string(field) == "data" {
		e.addData(value, line, room)
		return
	}
	if line.size > maxField {
		return
	}
	switch string(field) {
	case "event":
		e.name = string(value)
	case "id":
		e.id = string(value)
	case "retry":
		e.retry = string(value)
	}
}

func (e *event) addData(value []byte, line longLine, room int) {
	if e.data == nil {
		e.data = []byte{}
	} else {
		if room > 0 {
			e.data = append(e.data, '\n')
		}
		e.size++
	}
	e.size += line.size - (len(line.head) - len(value))
	e.dense = cmp.Or(e.dense, line.why)
	e.tail = line.tail
	if over := value[min(room, len(value)):]; len(over) > 0 {
		e.tail = end(append(bytes.Clone(over), line.tail...))
		value = value[:room]
	}
	if len(e.data) == 0 && len(value) > 0 {
		e.data = value // nearly always the only line, and not to be copied
		return
	}
	e.data = append(e.data, value...)
}

// within is the event without data that is more than is allowed.
func (e *event) within(limit int) event {
	if e.dense != nil || e.size > limit {
		e.long = edges(e.data)
		e.long.size = e.size
		e.long.why = cmp.Or(e.dense, error(&sizeError{size: e.size, limit: limit}))
		if e.tail != nil {
			e.long.tail = e.tail
		}
		e.data = nil
	}
	return *e
}

// append writes the event in the plainest form.
func (e *event) append(to []byte) []byte {
	for _, field := range [][2]string{{"event", e.name}, {"id", e.id}, {"retry", e.retry}} {
		if field[1] != "" {
			to = append(to, field[0]+": "+field[1]+"\n"...)
		}
	}
	for line := range bytes.SplitSeq(e.data, []byte("\n")) {
		to = append(append(append(to, "data: "...), line...), '\n')
	}
	return append(to, '\n')
}

// stream is the body of an event stream as the SDK is to read it.
type stream struct {
	body    io.ReadCloser
	events  *eventReader
	answers *answers
	call    jsonrpc.ID // what the stream answers, if it is one call
	resumes bool       // there was an event to resume from
	ended   bool
	err     error // why it ended, if not because it was answered
	out     []byte
}

// follow returns the stream in place of its body.
func (a *answers) follow(body io.ReadCloser, call jsonrpc.ID) *stream {
	return &stream{body: body, events: newEventReader(body, a.limit), answers: a, call: call}
}

// Read implements [io.Reader]. It returns with the first event.
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

// copyTo writes the events to w, each whole, until the stream ends.
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

// broken is the end of the stream. Unless the SDK can resume it, the call that
// it should have answered fails.
func (s *stream) broken(err error) error {
	if !s.call.IsValid() || s.resumes {
		return err
	}
	s.ended = true
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	s.say(s.answers.fail(s.call, cutShort(err)))
	return nil
}

func (s *stream) translate(evt *event) {
	s.resumes = s.resumes || evt.id != ""
	switch {
	case evt.long != nil:
		s.tooLong(evt.long)
		return
	case evt.name == "endpoint" && s.answers.legacy:
		s.endpoint(evt)
		return
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

// message returns a message as the SDK is to see it; nil for what is none,
// unless the call can be told.
func (s *stream) message(data []byte) []byte {
	msg, err := decodeMessage(data)
	if err != nil {
		return s.unreadable(edges(data), err)
	}
	if response, ok := msg.(*jsonrpc.Response); ok && response.ID == s.call && s.call.IsValid() {
		s.ended = true // nothing may follow; a server that keeps the stream open holds up nobody
	}
	return s.answers.pass(msg)
}

func (s *stream) tooLong(long *longLine) {
	s.say(s.unreadable(long, long.why))
}

// unreadable returns an error in place of an answer that cannot be taken.
func (s *stream) unreadable(line *longLine, why error) []byte {
	id := s.call
	if response := line.response(why); response != nil {
		id = response.ID
	}
	if !id.IsValid() {
		return nil
	}
	s.ended = s.ended || id == s.call
	return s.answers.fail(id, why)
}

func (s *stream) endpoint(evt *event) {
	if s.answers.moved != nil {
		endpoint, err := s.answers.moved(string(bytes.TrimSpace(evt.data)))
		if err != nil {
			s.ended, s.err = true, err
			return
		}
		evt.data = []byte(endpoint)
	}
	s.out = evt.append(s.out)
}

func (s *stream) say(data []byte) {
	if data != nil {
		s.out = (&event{data: data}).append(s.out)
	}
}

// Close implements [io.Closer]. What is left of an answered stream is nearly
// always its end, and a connection whose body was read to the end serves the
// next request.
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
