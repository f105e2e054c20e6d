package models

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Replay returns a model that answers with the replies, usage and errors that [Record]
// wrote. The order of different requests does not matter; a repeated request gets its
// recorded replies in order. The redact function must be the one that was used for the
// recording. The model has the capabilities in the recording's first line.
//
// A request that was not recorded, or was recorded fewer times, fails with an error that
// shows the difference from the most similar one. Replay returns an error that names the
// line if the recording cannot be read. Lines may have at most 64 MB.
func Replay(recorded io.Reader, redact Redact) (llms.Model, error) {
	if recorded == nil {
		return nil, errors.New("models: Replay has no recording; pass a reader")
	}
	r := &replay{redact: redact, next: map[string][]*recording{}}
	lines := bufio.NewScanner(recorded)
	lines.Buffer(nil, maxRecording)
	n := 1
	for ; lines.Scan(); n++ {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := r.add(line, n); err != nil {
				return nil, fmt.Errorf("models: line %d of the recording: %w", n, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("models: line %d of the recording: %w", n, err)
	}
	if len(r.all) > 0 && r.all[0].Capabilities != nil {
		return lm.CapableFunc{Func: r.generate, States: func() Capabilities { return *r.all[0].Capabilities }}, nil
	}
	return lm.Func(r.generate), nil
}

// maxRecording is the length of a line, in bytes.
const maxRecording = 64 << 20

type replay struct {
	redact Redact
	all    []*recording

	mu   sync.Mutex
	next map[string][]*recording // by the request's key
}

func (r *replay) add(line []byte, n int) error {
	rec := &recording{line: n}
	if err := json.Unmarshal(line, rec); err != nil {
		return err
	}
	if rec.Request == nil || (len(rec.Reply) == 0 && rec.Failure == nil) {
		return fmt.Errorf("it has no request, or neither reply nor failure")
	}
	r.all = append(r.all, rec)
	key := rec.Request.key()
	r.next[key] = append(r.next[key], rec)
	return nil
}

func (r *replay) generate(ctx context.Context, messages []llms.MessageContent,
	options []llms.CallOption) (*llms.ContentResponse, error) {
	if ctx.Err() != nil {
		return nil, lm.CancelledBy(ctx)
	}
	asked, err := requestOf(ctx, "", messages, options)
	if err != nil {
		return nil, &Error{Kind: KindInvalid, Err: err}
	}
	rec, err := r.take(r.redact.request(asked))
	if err != nil {
		return nil, &Error{Kind: KindInvalid, Err: err}
	}
	if rec.Failure != nil {
		return rec.Reply.provider(), rec.Failure.error()
	}
	return rec.Reply.provider(), rec.Reply.stream(ctx, options)
}

func (r *replay) take(asked *request) (*recording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := asked.key()
	left, known := r.next[key]
	if !known {
		return nil, r.missing(asked)
	}
	if len(left) == 0 {
		return nil, fmt.Errorf("this request was recorded %s and is now sent once more; record again",
			times(r.recorded(key)))
	}
	r.next[key] = left[1:]
	return left[0], nil
}

func (r *replay) recorded(key string) (n int) {
	for _, rec := range r.all {
		if rec.Request.key() == key {
			n++
		}
	}
	return n
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// missing returns the error for a request that was not recorded.
func (r *replay) missing(asked *request) error {
	if len(r.all) == 0 {
		return fmt.Errorf("this request was not recorded: the recording is empty")
	}
	nearest := slices.MaxFunc(r.all, func(a, b *recording) int {
		return alike(a.Request, asked) - alike(b.Request, asked)
	})
	return fmt.Errorf("this request was not recorded; the most similar one, in line %d, differs in %s; record again",
		nearest.line, difference(nearest.Request, asked))
}

// alike measures how much two requests have in common: equal messages first, then the
// common beginning of the next message.
func alike(a, b *request) int {
	score := 0
	for i := range min(len(a.Messages), len(b.Messages)) {
		x, y := a.Messages[i].String(), b.Messages[i].String()
		if x != y {
			return score + min(common(x, y), 1<<20-1)
		}
		score += 1 << 20
	}
	if len(a.Messages) == len(b.Messages) {
		score++
	}
	return score
}

// String returns the message as text.
func (s said) String() string {
	var b strings.Builder
	b.WriteString(s.Role + ": ")
	for _, p := range s.Parts {
		b.WriteString(p.Text + p.Kind + string(p.Value))
	}
	return b.String()
}

// common returns the length of the common prefix.
func common(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// difference describes the first difference between a recorded request and another.
func difference(recorded, asked *request) string {
	for i := range min(len(recorded.Messages), len(asked.Messages)) {
		x, y := recorded.Messages[i].String(), asked.Messages[i].String()
		if x != y {
			from, at := common(x, y[:strings.Index(y, ": ")+2]), common(x, y)
			return fmt.Sprintf("message %d (%s): recorded %s, now %s", i+1, asked.Messages[i].Role,
				around(x[from:], at-from), around(y[from:], at-from))
		}
	}
	if n, m := len(recorded.Messages), len(asked.Messages); n != m {
		return fmt.Sprintf("the number of messages: recorded %d, now %d", n, m)
	}
	names := map[string]json.RawMessage{}
	maps.Copy(names, recorded.settings())
	maps.Copy(names, asked.settings())
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, y := string(recorded.settings()[name]), string(asked.settings()[name])
		if x != y {
			return fmt.Sprintf("%s: recorded %s, now %s", name, orNothing(x), orNothing(y))
		}
	}
	return "the way the messages are divided into parts"
}

// settings returns everything of a request except its messages.
func (r *request) settings() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	c := *r
	c.Messages, c.Options = nil, nil
	text, _ := json.Marshal(c)
	_ = json.Unmarshal(text, &all)
	delete(all, "messages")
	maps.Copy(all, r.Options)
	return all
}

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// around returns the part of a text around an offset.
func around(s string, at int) string {
	const before, after = 20, 40
	from, to := max(at-before, 0), min(at+after, len(s))
	piece := strings.ToValidUTF8(s[from:to], "")
	if from > 0 {
		piece = "…" + piece
	}
	if to < len(s) {
		piece += "…"
	}
	return fmt.Sprintf("%q", piece)
}
