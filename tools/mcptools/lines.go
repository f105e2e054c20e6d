package mcptools

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// edge is how much is kept of either end of a line that is too long.
const edge = 256

// lineReader splits a stream into lines and never holds more than max bytes of
// one.
type lineReader struct {
	r   *bufio.Reader
	max int
}

// longLine is what is left of a line that is too large to be kept.
type longLine struct {
	head, tail []byte
	size       int
	why        error // a *sizeError or *formError
}

// next returns the next line without its end, or what is left of it. The last
// line need not have an end; after it comes io.EOF.
func (l *lineReader) next() ([]byte, *longLine, error) {
	var line []byte
	scan := messageScan()
	for {
		part, err := l.r.ReadSlice('\n')
		line = grown(line, part)
		_, dense := scan.Write(part)
		switch {
		case dense != nil, len(trimEnd(line)) > l.max:
			long, err := l.skip(line, err)
			long.why = cmp.Or(excess(dense), error(&sizeError{size: long.size, limit: l.max}))
			return nil, long, err
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
			return trimEnd(line), nil, nil
		default:
			return nil, nil, err
		}
	}
}

// grown appends a part to a line. Unlike append, it doubles the room for a long line too,
// so that less is copied, and left to be collected, while the line grows.
func grown(line, part []byte) []byte {
	if len(line)+len(part) > cap(line) {
		line = slices.Grow(line, max(len(line), len(part)))
	}
	return append(line, part...)
}

// skip reads the rest of a long line, of which start has been read.
func (l *lineReader) skip(start []byte, err error) (*longLine, error) {
	long := &longLine{head: append([]byte(nil), start[:min(edge, len(start))]...), size: len(start)}
	long.tail = append(long.tail, start[max(0, len(start)-edge):]...)
	for errors.Is(err, bufio.ErrBufferFull) {
		var part []byte
		part, err = l.r.ReadSlice('\n')
		long.size += len(part)
		long.tail = append(long.tail, part...)
		long.tail = append(long.tail[:0], long.tail[max(0, len(long.tail)-edge):]...)
	}
	if errors.Is(err, io.EOF) {
		err = nil // the next read says so again
	}
	long.tail = trimEnd(long.tail)
	return long, err
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// The id of a response stands at one of its ends. In valid JSON neither
// pattern can match inside a string or a nested object: a quote inside a string
// is escaped, and a nested object is closed by a brace of its own.
var (
	idFirst = regexp.MustCompile(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,\s*"(?:jsonrpc|result|error)"`)
	idLast  = regexp.MustCompile(`,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
)

// edges returns what a line is known by that cannot be taken whole.
func edges(line []byte) *longLine {
	return &longLine{head: line[:min(edge, len(line))], tail: line[max(0, len(line)-edge):], size: len(line)}
}

// response returns an error response in place of one that cannot be taken, so
// that its call fails at once instead of waiting for ever; nil if no id is found.
func (l *longLine) response(reason error) *jsonrpc.Response {
	match := idFirst.FindSubmatch(l.head)
	if match == nil {
		match = idLast.FindSubmatch(l.tail)
	}
	if match == nil {
		return nil
	}
	n, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		return nil
	}
	id, err := jsonrpc.MakeID(n)
	if err != nil {
		return nil
	}
	return &jsonrpc.Response{ID: id, Error: reason}
}

// formError says that an answer is JSON-RPC at its edges, but cannot be read.
type formError struct{ err error }

func (e *formError) Error() string { return fmt.Sprintf("the answer cannot be read: %v", e.err) }

// sizeError says that an answer was larger than allowed. Its size is zero if
// nobody waited for its end.
type sizeError struct {
	size, limit int
	of          string // what was counted; empty is bytes
}

func (e *sizeError) Error() string {
	if e.size == 0 {
		return fmt.Sprintf("the answer has more than %d %s, which is the most that is accepted", e.limit, cmp.Or(e.of, "bytes"))
	}
	return fmt.Sprintf("the answer has %d bytes; at most %d are accepted", e.size, e.limit)
}
