package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Event is a server-sent event.
type Event struct {
	Name string // "" if the event has no name
	Data []byte // valid until the next event
}

// Events reads the response as server-sent events. It ends after an error, which may be one that an event contains. If
// the events end before the reply is complete, the caller returns [Answer.Cut].
func (a *Answer) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var name string
		var data []byte
		for line, err := range a.lines(ctx) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case len(line) == 0:
				if len(data) > 0 && !a.yield(Event{name, data}, yield) {
					return
				}
				name, data = "", nil
			case string(field) == "event":
				name = string(value)
			case string(field) == "data" && data != nil:
				data = append(append(data, '\n'), value...)
			case string(field) == "data":
				data = append([]byte{}, value...)
			}
			if len(data) > maxBody {
				yield(Event{}, a.client.strange("an event of more than %d bytes", maxBody))
				return
			}
		}
		if len(data) > 0 { // some servers leave out the last blank line
			a.yield(Event{name, data}, yield)
		}
	}
}

// Lines reads the response as lines of JSON, each an event. Errors are as in [Answer.Events].
func (a *Answer) Lines(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for line, err := range a.lines(ctx) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if len(line) > 0 && !a.yield(Event{Data: line}, yield) {
				return
			}
		}
	}
}

// Frames reads the response as events that next decodes. At the end, next returns io.EOF. Errors are as in
// [Answer.Events].
func (a *Answer) Frames(ctx context.Context, next func(io.Reader) (Event, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		limited := &io.LimitedReader{R: a.body, N: maxStream}
		for {
			e, err := next(limited)
			switch {
			case ctx.Err() != nil:
				yield(Event{}, cancelled(ctx))
				return
			case limited.N <= 0 || len(e.Data) > maxBody:
				yield(Event{}, a.client.strange("a stream that is too long: more than %d bytes in an event "+
					"or %d in all", maxBody, maxStream))
				return
			case err == io.EOF:
				return
			case err != nil:
				yield(Event{}, a.client.broken(ctx, err, "the reply broke off: %w"))
				return
			}
			if !a.yield(e, yield) {
				return
			}
		}
	}
}

// Whole returns a response that is not streamed as one event.
func (a *Answer) Whole(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var data json.RawMessage
		err := a.Decode(ctx, &data)
		yield(Event{Data: data}, err)
	}
}

// Each passes events to add, which returns the size of the reply so far, and returns the first error.
func (a *Answer) Each(events iter.Seq2[Event, error], add func(Event) (size int, err error)) error {
	for e, err := range events {
		if err == nil {
			a.Size, err = add(e)
		}
		if m, ok := errors.AsType[*Malformed](err); ok {
			return a.Malformed(e.Data, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// yield yields an event, or the error in it.
func (a *Answer) yield(e Event, yield func(Event, error) bool) bool {
	var err error
	switch {
	case a.Size > maxReply:
		err = a.client.strange("a reply of more than %d bytes; set a lower MaxTokens", maxReply)
	case crowded(e.Data, maxElements), !a.Echoes && crowded(e.Data, maxObjects):
		err = a.client.strange("an event of more than %d elements or %d objects", maxElements, maxObjects)
	default:
		err = a.client.failureIn(e.Data)
	}
	if err != nil {
		yield(Event{}, err)
		return false
	}
	return yield(e, nil)
}

// lines reads lines without their ends.
func (a *Answer) lines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		limited := &io.LimitedReader{R: a.body, N: maxStream}
		lines := bufio.NewScanner(limited)
		lines.Buffer(nil, maxBody)
		lines.Split(scanLine)
		for ctx.Err() == nil && lines.Scan() {
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case ctx.Err() != nil:
			yield(nil, cancelled(ctx))
		case err == bufio.ErrTooLong || limited.N <= 0:
			yield(nil, a.client.strange("a stream that is too long: more than %d bytes in a line or %d in all",
				maxBody, maxStream))
		case err != nil:
			yield(nil, a.client.broken(ctx, err, "the reply broke off: %w"))
		}
	}
}

// scanLine is bufio.ScanLines, except that it drops a truncated last line.
func scanLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	last := atEOF && bytes.IndexByte(data, '\n') < 0
	if last && !bytes.HasSuffix(data, []byte("}")) && !bytes.HasSuffix(data, []byte("]")) {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

// Malformed returns the error for an event that does not follow the protocol.
func (a *Answer) Malformed(data []byte, err error) error { return a.client.notJSON(data, err) }

// Cut returns the error for a stream that ended before the reply was complete.
func (a *Answer) Cut() error {
	err := a.client.errorf("ended the stream before the reply was complete; try again")
	return &lm.Error{Kind: lm.KindTransient, MaybeCharged: true, Err: err}
}

// Streams reports whether the caller wants the reply streamed.
func Streams(o llms.CallOptions) bool {
	return o.StreamingFunc != nil || o.StreamingReasoningFunc != nil
}

// Tell streams a piece of the reasoning and of the text to the caller.
func Tell(ctx context.Context, o llms.CallOptions, thought, text string) error {
	if thought != "" && o.StreamingReasoningFunc != nil {
		if err := o.StreamingReasoningFunc(ctx, []byte(thought), nil); err != nil {
			return err
		}
	}
	if text != "" && o.StreamingFunc != nil {
		return o.StreamingFunc(ctx, []byte(text))
	}
	return nil
}

// Malformed is an error that the reader of a stream passes to [Answer.Malformed].
type Malformed struct{ error }

// Malformedf returns a [Malformed].
func Malformedf(format string, args ...any) error { return &Malformed{fmt.Errorf(format, args...)} }
