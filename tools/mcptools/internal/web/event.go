package web

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// event is a server-sent event.
type event struct {
	name, id, retry string
	data            []byte
	rejected        *message.Buffer // data that was not kept
}

// eventReader splits a stream into events. It never holds much more than limit bytes of an event. It also reads fields
// without a colon, which the SDK does not support.
type eventReader struct {
	r     *bufio.Reader
	limit int
}

func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10), limit: limit}
}

// maxField bounds the fields other than the data, in bytes. Longer fields are ignored.
const maxField = 1 << 10

// next returns the next event. As the standard says, it drops an incomplete event at the end of
// the stream.
func (e *eventReader) next() (event, error) {
	evt := eventBuilder{limit: e.limit}
	for {
		part, end, err := e.part()
		if err != nil {
			return event{}, err
		}
		evt.write(part)
		if end && evt.endLine() || evt.endless() {
			return evt.event(), nil
		}
	}
}

// part returns the next part of a line, without the line ending, and whether the line ends there. The part is valid
// until the next call.
func (e *eventReader) part() (part []byte, end bool, err error) {
	part, err = e.r.ReadSlice('\n')
	if err == nil {
		return bytes.TrimRight(part, "\r\n"), true, nil
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		return part, false, nil
	}
	return nil, false, err
}

// eventBuilder collects an event part by part.
type eventBuilder struct {
	evt   event
	limit int
	data  *message.Buffer // nil if the event has no data

	line   []byte // the start of the current line; only the field name for data
	inData bool   // the rest of the line is data
	any    bool   // the line is not empty
}

const dataField = "data:"

func (b *eventBuilder) write(part []byte) {
	b.any = b.any || len(part) > 0
	if !b.inData && len(b.line) <= len(dataField) {
		n := min(len(part), len(dataField)+1-len(b.line))
		b.line, part = append(b.line, part[:n]...), part[n:]
		if value, ok := bytes.CutPrefix(b.line, []byte(dataField)); ok && len(value) > 0 {
			b.startData()
			b.inData = true
			_, _ = b.data.Write(bytes.TrimPrefix(value, []byte(" ")))
		}
	}
	if b.inData {
		_, _ = b.data.Write(part)
	} else if len(b.line) <= maxField {
		b.line = append(b.line, part...)
	}
}

// startData begins a line of data.
func (b *eventBuilder) startData() {
	if b.data == nil {
		b.data = message.NewBuffer(b.limit)
		return
	}
	_, _ = b.data.Write([]byte("\n"))
}

// endLine ends the line and reports whether the event is complete.
func (b *eventBuilder) endLine() bool {
	line, complete := b.line, !b.any && !b.empty()
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case b.inData, len(line) > maxField:
	case string(field) == "data":
		b.startData()
	case string(field) == "event":
		b.evt.name = string(value)
	case string(field) == "id":
		b.evt.id = string(value)
	case string(field) == "retry":
		b.evt.retry = string(value)
	}
	b.line, b.inData, b.any = b.line[:0], false, false
	return complete
}

func (b *eventBuilder) empty() bool {
	return b.evt.name == "" && b.evt.id == "" && b.evt.retry == "" && b.data == nil
}

// endless reports whether the event is so much larger than the limit that reading stops before its end, although the
// end may have the ID of a call. The rest is read as another event.
func (b *eventBuilder) endless() bool { return b.data != nil && b.data.Size() > 16*b.limit+1<<20 }

func (b *eventBuilder) event() event {
	if b.data != nil && b.data.Err() != nil {
		b.evt.rejected = b.data
	} else if b.data != nil {
		b.evt.data = b.data.Bytes()
	}
	return b.evt
}

// append appends the encoded event to a slice.
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
