package models

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/writ-go/writ/module/internal/lm"
)

// events is a stream of server-sent events on its way to a provider. It notes
// what providers do not see: that it ended before the reply did, and that an
// event is an error. And it divides events that are too long for them.
type events struct {
	body     io.ReadCloser
	lines    *bufio.Reader
	exchange *lm.Exchange
	ready    []byte // to be read
	err      error  // after that
	ended    bool   // the reply, as the provider said
	refusal  string // so far
}

func newEvents(body io.ReadCloser, x *lm.Exchange) *events {
	return &events{body: body, lines: bufio.NewReader(body), exchange: x}
}

// Close implements [io.Closer].
func (e *events) Close() error { return e.body.Close() }

// Read implements [io.Reader].
func (e *events) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.next()
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}

// errCutStream is a stream that ended as if that were all.
var errCutStream = errors.New("the stream ended before the reply did")

func (e *events) next() {
	line, err := readLine(e.lines)
	e.ready, e.err = line, err
	e.end(line)
	e.refuse(line)
	switch {
	case err == io.EOF && !e.ended && e.failed(line):
	case err == io.EOF && (!e.ended || cutWithin(line)):
		e.exchange.Note(lm.FromConnection(errCutStream))
		e.err = io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		e.exchange.Note(lm.FromConnection(err))
	case e.failed(line):
		e.err = io.EOF // anthropic's provider would go on, and leak a goroutine
	case len(line) > maxEvent:
		e.ready = divide(line)
	}
}

// ending is what an event has in it that may say why the reply is complete.
var ending = regexp.MustCompile(`message_stop|finish_?[rR]eason|stop_reason`)

// end notes that a reply is complete, and why.
func (e *events) end(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return
	}
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		e.ended = true
		return
	}
	if !ending.Match(data) {
		return
	}
	var event struct {
		reasons
		Type       string
		Delta      reasons
		Choices    []reasons
		Candidates []reasons
	}
	if json.Unmarshal(data, &event) != nil {
		return
	}
	if len(event.Choices) > 0 && event.Choices[0].Finish != "" {
		e.exchange.NoteStop(event.Choices[0].Finish)
	}
	all := append(append(event.Choices, event.Candidates...), event.reasons, event.Delta)
	e.ended = e.ended || event.Type == "message_stop" || slices.ContainsFunc(all, func(r reasons) bool { return r != reasons{} })
}

// reasons are the names under which providers say why a reply ended.
type reasons struct {
	Finish string `json:"finish_reason"`
	Camel  string `json:"finishReason"`
	Stop   string `json:"stop_reason"`
}

// cutWithin reports that the last line of a stream is the beginning of an event.
func cutWithin(line []byte) bool {
	data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
	return ok && !bytes.HasSuffix(line, []byte("\n")) && string(bytes.TrimSpace(data)) != "[DONE]" && !json.Valid(data)
}

// failed reports an event that is an error, which openai's provider skips.
func (e *events) failed(line []byte) bool {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return false
	}
	failure := failureIn(data)
	if failure == nil {
		return false
	}
	e.exchange.Note(failure)
	return true
}

// refuse notes a refusal, piece by piece.
func (e *events) refuse(line []byte) {
	if more := refusalIn(bytes.TrimPrefix(line, []byte("data:"))); more != "" {
		e.refusal += more
		e.exchange.Note(refused(e.refusal))
	}
}

// refusalIn returns what openai's models say instead of an answer in the form
// that was asked for. The provider drops it.
func refusalIn(data []byte) string {
	if !bytes.Contains(data, []byte(`"refusal"`)) {
		return ""
	}
	type text struct{ Refusal string }
	var answer struct {
		Choices []struct{ Message, Delta text }
	}
	if json.Unmarshal(data, &answer) != nil || len(answer.Choices) == 0 {
		return ""
	}
	return answer.Choices[0].Message.Refusal + answer.Choices[0].Delta.Refusal
}

func refused(why string) *Error {
	return &Error{Kind: Refused, MaybeCharged: true, Err: errors.New(clip(why))}
}

// failureIn returns the error that an answer of status 200 is, or nil if it is
// none. Something may have been generated before.
func failureIn(data []byte) *Error {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return nil
	}
	var answer struct{ Error json.RawMessage }
	if json.Unmarshal(data, &answer) != nil || nothing.Match(answer.Error) {
		return nil
	}
	message, code := complaint(data)
	failure := lm.FromAnswer(statusIn(answer.Error), 0, message, code)
	failure.MaybeCharged = true
	return failure
}

// nothing is what servers write as the error of an answer that is none.
var nothing = regexp.MustCompile(`^(null|false|0|""|\{\s*\}|\[\s*\])?$`)

// statusIn is the HTTP status that some gateways put into an error as its code.
func statusIn(problem json.RawMessage) int {
	var p struct{ Code int }
	if json.Unmarshal(problem, &p) != nil || p.Code < 400 || p.Code > 599 {
		return 0
	}
	return p.Code
}

// The lengths of lines: providers read up to 64 KB, and we up to 16 MB; a line
// beyond that is passed on in pieces, for the provider to fail.
const (
	maxEvent = 60 << 10
	maxLine  = 16 << 20
)

func readLine(r *bufio.Reader) (line []byte, err error) {
	for len(line) < maxLine {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
	return line, nil
}

// divide makes several events of one whose text is long, if it has the form of
// openai's or anthropic's.
func divide(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	var event map[string]any
	if !ok || json.Unmarshal(data, &event) != nil {
		return line
	}
	holder, key := longText(event)
	text, _ := holder[key].(string)
	if text == "" {
		return line
	}
	end := endOf(event)
	var out bytes.Buffer
	for rest := []rune(text); len(rest) > 0; {
		n := min(len(rest), maxEvent/12) // a rune may take 12 bytes in JSON
		holder[key] = string(rest[:n])
		if rest = rest[n:]; len(rest) == 0 {
			end()
		}
		piece, err := json.Marshal(event)
		if err != nil {
			return line
		}
		out.WriteString("data: ")
		out.Write(piece)
		out.WriteString("\n\n")
		strip(event, holder, key)
	}
	return out.Bytes()
}

// strip takes from an event what its first piece has told beside the text.
func strip(event, holder map[string]any, key string) {
	keep := func(m map[string]any, names ...string) {
		maps.DeleteFunc(m, func(name string, _ any) bool { return !slices.Contains(names, name) })
	}
	keep(event, "type", "index", "delta", "id", "object", "created", "model", "choices")
	if call, delta := lastCall(event), deltaOf(event); key == "arguments" {
		keep(delta, "tool_calls")
		keep(call, "index", "function")
		delta["tool_calls"] = []any{call}
	}
	keep(holder, "type", key)
	if choice := firstChoice(event); choice != nil {
		keep(choice, "index", "delta", "finish_reason")
		event["choices"] = []any{choice}
	}
}

// longText finds the text of an event: where it is, and under which name.
func longText(event map[string]any) (holder map[string]any, key string) {
	delta := deltaOf(event)
	for _, name := range []string{"content", "reasoning_content", "text", "thinking", "partial_json"} {
		if text, _ := delta[name].(string); len(text) > len(keyText(delta, key)) {
			key = name
		}
	}
	if function, _ := lastCall(event)["function"].(map[string]any); len(keyText(function, "arguments")) > len(keyText(delta, key)) {
		return function, "arguments"
	}
	return delta, key
}

// lastCall is the tool call that openai's provider adds further arguments to.
func lastCall(event map[string]any) map[string]any {
	calls, _ := deltaOf(event)["tool_calls"].([]any)
	if len(calls) == 0 {
		return nil
	}
	call, _ := calls[len(calls)-1].(map[string]any)
	return call
}

func deltaOf(event map[string]any) map[string]any {
	delta, _ := event["delta"].(map[string]any)
	if choice := firstChoice(event); choice != nil {
		delta, _ = choice["delta"].(map[string]any)
	}
	return delta
}

func keyText(delta map[string]any, key string) string {
	text, _ := delta[key].(string)
	return text
}

func firstChoice(event map[string]any) map[string]any {
	choices, _ := event["choices"].([]any)
	if len(choices) == 0 {
		return nil
	}
	choice, _ := choices[0].(map[string]any)
	return choice
}

// endOf takes the reason to stop from an event, and returns what puts it back.
func endOf(event map[string]any) func() {
	choice := firstChoice(event)
	reason, ok := choice["finish_reason"]
	if !ok {
		return func() {}
	}
	delete(choice, "finish_reason")
	return func() { choice["finish_reason"] = reason }
}
