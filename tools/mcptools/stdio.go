package mcptools

import (
	"bufio"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio speaks to a process: one JSON-RPC message a line. It is a transport of
// our own because the SDK's end the session at the first line that is not a
// message, or is too long, and leave a server's children running.
type stdio struct {
	process *process
	limit   int // bytes of one message

	lines lineReader
	queue []jsonrpc.Message // rest of a batch
	noise noise

	out    chan []byte // lines to write
	closed atomic.Bool
	ended  atomic.Bool   // nothing more comes from it
	silent chan struct{} // closed then
	broken chan struct{} // closed when nothing can be written any more
}

func newStdio(p *process, limit int) *stdio {
	return &stdio{
		process: p,
		limit:   limit,
		lines:   lineReader{r: bufio.NewReaderSize(p.stdout, 64<<10), max: limit},
		out:     make(chan []byte),
		silent:  make(chan struct{}),
		broken:  make(chan struct{}),
	}
}

// Connect implements [mcp.Transport].
func (s *stdio) Connect(context.Context) (mcp.Connection, error) {
	go s.write()
	return s, nil
}

// SessionID implements [mcp.Connection]; a stdio session has none.
func (s *stdio) SessionID() string { return "" }

// Close ends the process.
func (s *stdio) Close() error {
	s.closed.Store(true)
	return s.process.end()
}

// Read returns the next message and keeps count of the lines that are none.
// Closing ends it: the process ends, and with it the stream.
func (s *stdio) Read(context.Context) (jsonrpc.Message, error) {
	for len(s.queue) == 0 {
		line, long, err := s.lines.next()
		switch {
		case err != nil:
			if !s.ended.Swap(true) {
				close(s.silent)
			}
			return nil, io.EOF // whatever the reason: the server is gone
		case long != nil:
			s.queue = s.tooLong(long)
		default:
			s.queue = s.messages(line)
		}
	}
	if s.closed.Load() {
		return nil, io.EOF // a batch can be long, and nobody waits for it any more
	}
	msg := s.queue[0]
	s.queue = s.queue[1:]
	return msg, nil
}

func (s *stdio) tooLong(long *longLine) []jsonrpc.Message {
	if r := long.response(long.why); r != nil {
		return []jsonrpc.Message{r}
	}
	s.noise.add(long.head)
	return nil
}

// messages returns the messages of a line: one, or those of a batch.
func (s *stdio) messages(line []byte) []jsonrpc.Message {
	if isBatch(line) {
		list, _ := decodeBatch(line)
		if len(list) == 0 {
			s.noise.add(line)
		}
		return list
	}
	msg, err := decodeMessage(line)
	if err == nil {
		return []jsonrpc.Message{msg}
	}
	if r := edges(line).response(err); r != nil {
		return []jsonrpc.Message{r}
	}
	s.noise.add(line)
	return nil
}

// Write hands a message to the writer, so that a server that does not read its
// stdin holds up no call beyond its context, and no line is cut short.
func (s *stdio) Write(ctx context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case s.out <- append(line, '\n'):
		return nil
	case <-s.broken:
		s.hearOut(ctx)
		return errUnsent
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hearOut waits until all is read that a process has said that has ended. It may
// say why, and who fails to write to it ends the reading.
func (s *stdio) hearOut(ctx context.Context) {
	select {
	case <-s.process.reaped:
	default:
		return
	}
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-s.silent:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *stdio) write() {
	defer close(s.broken)
	for {
		select {
		case line := <-s.out:
			if _, err := s.process.stdin.Write(line); err != nil {
				return
			}
		case <-s.process.reaped:
			return
		}
	}
}

// noise is what a server printed to stdout beside its messages.
type noise struct {
	mu    sync.Mutex
	lines int
	first string
}

func (n *noise) add(line []byte) {
	text := string(line[:min(len(line), edge)])
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == "" {
		n.first = text
	}
	if text != "" {
		n.lines++
	}
}

func (n *noise) seen() (lines int, first string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lines, n.first
}
