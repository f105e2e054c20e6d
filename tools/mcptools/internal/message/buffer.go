package message

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/internal/jsonscan"
)

// edge is how many bytes are kept at each end of a message that is too large.
const edge = 256

// Buffer is an [io.Writer] that collects one message. If the message exceeds the limit,
// or has too many JSON values, Buffer keeps only its two ends, since one of them may have
// the ID of the call.
type Buffer struct {
	limit int
	data  []byte // the message, or its start
	tail  []byte // the message's end, if the message is not kept
	size  int
	err   error
	scan  jsonscan.Scanner
}

// NewBuffer returns a buffer for a message of at most limit bytes.
func NewBuffer(limit int) *Buffer { return &Buffer{limit: limit, scan: newScanner()} }

// Write adds a piece of the message. It returns [io.ErrShortWrite] once the message is no longer kept. The caller may
// continue, so that the buffer learns the message's size and end.
func (b *Buffer) Write(p []byte) (int, error) {
	kept := b.Err() == nil
	b.size += len(p)
	if kept {
		_, err := b.scan.Write(p)
		b.err = scanError(err)
	}
	switch {
	case b.Err() == nil:
		if len(b.data)+len(p) > cap(b.data) { // append would grow a large slice in small steps
			b.data = slices.Grow(b.data, max(len(b.data), len(p)))
		}
		b.data = append(b.data, p...)
		return len(p), nil
	case kept:
		b.tail = b.data
		b.data = start(append(bytes.Clone(start(b.data)), start(p)...))
	}
	b.tail = end(append(bytes.Clone(end(b.tail)), end(p)...))
	return len(p), io.ErrShortWrite
}

// Size returns the message's size so far.
func (b *Buffer) Size() int { return b.size }

// Bytes returns the message, or its start if the message is not kept.
func (b *Buffer) Bytes() []byte { return b.data }

// Err returns why the message is not kept: a *[SizeError], a *[FormatError] or nil.
func (b *Buffer) Err() error {
	if b.err == nil && b.size > b.limit {
		return &SizeError{Size: b.size, Limit: b.limit}
	}
	return b.err
}

// Reject returns an error response in place of a response that was not kept, or nil if its ID is unknown.
func (b *Buffer) Reject() *jsonrpc.Response { return reject(b.data, b.tail, b.Err()) }

// Reject returns an error response in place of a response that cannot be decoded, or nil if its ID is unknown.
func Reject(data []byte, err error) *jsonrpc.Response { return reject(start(data), end(data), err) }

func start(data []byte) []byte { return data[:min(edge, len(data))] }
func end(data []byte) []byte   { return data[max(0, len(data)-edge):] }

// The ID of a response is at one of its ends. In valid JSON, neither pattern matches inside a string or a nested
// object: a quote in a string is escaped, and a nested object has its own closing brace.
var (
	idFirst = regexp.MustCompile(
		`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,\s*"(?:jsonrpc|result|error)"`)
	idLast = regexp.MustCompile(`,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
)

func reject(head, tail []byte, err error) *jsonrpc.Response {
	match := idFirst.FindSubmatch(head)
	if match == nil {
		match = idLast.FindSubmatch(tail)
	}
	if match == nil {
		return nil
	}
	n, numberErr := strconv.ParseFloat(string(match[1]), 64)
	if numberErr != nil {
		return nil
	}
	id, idErr := jsonrpc.MakeID(n)
	if idErr != nil {
		return nil
	}
	return &jsonrpc.Response{ID: id, Error: err}
}
