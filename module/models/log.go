package models

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/filelock"
	"github.com/writ-go/writ/module/internal/lm"
)

// Log is a file of replies that lets a program that was killed continue. The program opens the log and begins again:
// requests that it made before get the replies, usage and errors in the log, and all others reach the model and are
// appended. In contrast to a [Cache], a log has the errors as well, a repeated request gets its replies in their
// order, and what they cost counts again: the program goes the same way as before. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	file    *os.File
	replies map[string]logged // by the request and its occurrence
	asked   map[string]int    // how often each request was made
	broken  error             // why a reply could not be written; nothing is asked after it
}

// logged is a line of a log: a reply, or the mark that errors are to be retried.
type logged struct {
	Key     string   `json:"key,omitempty"`
	N       int      `json:"n,omitempty"` // the occurrence of the request, from 0
	Reply   response `json:"reply,omitempty"`
	Failure *failure `json:"failure,omitempty"`
	Retry   bool     `json:"retry,omitempty"`
}

func (e logged) at() string { return fmt.Sprint(e.Key, " ", e.N) }

// OpenLog opens a log, or makes an empty one. It is an error if it is open already, here or in another process. A line
// that was being written when the program was killed is removed.
func OpenLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("models: the log: %w", err)
	}
	l := &Log{file: file, replies: map[string]logged{}, asked: map[string]int{}}
	if err = filelock.Own(file); err == nil {
		err = l.read()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("models: the log %s: %w", path, err), filelock.Close(file))
	}
	return l, nil
}

var errNotLog = errors.New("it is not a log of replies; name another file")

// read reads the entries and removes a last line that was cut off.
func (l *Log) read() error {
	lines := bufio.NewReader(l.file)
	end, isLog, missing := int64(0), false, ""
	for n := 1; missing == ""; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && !json.Valid(line) { // nothing, or a line that was cut off
			if !isLog && !canBegin(string(line)) {
				return errNotLog
			}
			break
		}
		if err == io.EOF {
			missing = "\n"
		} else if err != nil {
			return err
		}
		end += int64(len(line))
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := l.readEntry(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		isLog = true
	}
	if err := l.file.Truncate(end); err != nil {
		return err
	}
	if _, err := l.file.Seek(end, io.SeekStart); err != nil {
		return err
	}
	_, err := l.file.WriteString(missing)
	return err
}

// canBegin reports whether a log can begin with a line that was cut off.
func canBegin(line string) bool {
	const entry, retry = `{"key":"`, `{"retry":true}`
	return strings.HasPrefix(line, entry) || strings.HasPrefix(entry, line) || strings.HasPrefix(retry, line)
}

func (l *Log) readEntry(line []byte) error {
	var e logged
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if !e.Retry && (e.Key == "" || e.Reply == nil && e.Failure == nil) {
		return errNotLog
	}
	l.add(e)
	return nil
}

func (l *Log) add(e logged) {
	if !e.Retry {
		l.replies[e.at()] = e
		return
	}
	for at, old := range l.replies {
		if old.Failure != nil {
			delete(l.replies, at)
		}
	}
}

// Model returns a model whose requests are answered by the log or recorded in it. Requests are the same under the
// conditions of [Cache.Model]. The order of requests that are made at the same time does not matter, unless they are
// the same; give them different labels then.
//
// If a reply cannot be written, the error is an *[Error] of kind [KindUnknown], which is returned together with the
// response.
func (l *Log) Model(model llms.Model, label string) llms.Model {
	return wrap(model, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		if ctx.Err() != nil {
			return nil, lm.CancelledBy(ctx)
		}
		r, err := requestOf(ctx, label, messages, options)
		if err != nil {
			return nil, &Error{Kind: KindInvalid, Err: err}
		}
		e, known, broken := l.find(r.key())
		if broken != nil {
			return nil, &Error{Kind: KindUnknown, Err: fmt.Errorf("the log of replies cannot be written: %w", broken)}
		}
		if known {
			if e.Failure != nil {
				return e.Reply.provider(), e.Failure.error()
			}
			return e.Reply.provider(), e.Reply.stream(ctx, options)
		}
		response, err := lm.Generate(ctx, model, messages, options...)
		if failed := l.record(e, response, err); failed != nil {
			return response, unwritten(failed, err)
		}
		return response, err
	})
}

// find returns the entry of the next occurrence of a request, and whether the log has it; or why the log cannot be
// written anymore, so that no further reply is paid for and lost.
func (l *Log) find(key string) (e logged, known bool, broken error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e = logged{Key: key, N: l.asked[key]}
	l.asked[key]++
	if old, ok := l.replies[e.at()]; ok {
		return old, true, nil
	}
	return e, false, l.broken
}

// record appends a reply, unless the caller or a budget prevented it.
func (l *Log) record(e logged, answer *llms.ContentResponse, err error) error {
	e.Reply = responseOf(answer)
	if failure, ok := errors.AsType[*Error](err); ok {
		if failure.Kind == KindCancelled || failure.Kind == KindOverBudget {
			return nil
		}
		e.Failure = failureOf(failure, nil)
	}
	return l.append(e)
}

func (l *Log) append(e logged) error {
	line, err := json.Marshal(e)
	if err != nil { // impossible: all values are plain
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		_, l.broken = l.file.Write(append(line, '\n'))
	}
	return l.broken
}

// RetryFailures makes requests that failed reach the model again when the log is next opened. A program that ends
// because of errors, such as a key that has expired, calls it before it ends.
func (l *Log) RetryFailures() error { return l.append(logged{Retry: true}) }

// Len returns the number of replies in the log when it was opened.
func (l *Log) Len() int { return len(l.replies) }

// Close closes the file. Further requests fail once they have been answered.
func (l *Log) Close() error { return filelock.Close(l.file) }
