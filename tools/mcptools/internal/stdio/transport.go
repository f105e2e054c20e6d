package stdio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// errBatch is returned by [Server.Read] for a JSON-RPC batch. Only protocol version 2025-03-26 had batches.
const errBatch = message.ViolationError("sent a JSON-RPC batch, which MCP no longer supports")

// ErrNotSent is returned by [Server.Write] for a message that was not sent.
var ErrNotSent = errors.New("the server does not read its stdin anymore")

// Server is a running server, and the transport to it: one JSON-RPC message per line. Unlike
// the SDK's transports, it survives lines that are not messages or are too long, and stops the
// children of the server.
type Server struct {
	process *process
	lines   lineReader
	noise   noise

	out    chan []byte // lines to write
	closed atomic.Bool
	ended  atomic.Bool   // stdout has ended
	silent chan struct{} // closed when stdout has ended
	broken chan struct{} // closed when nothing can be written anymore
}

// Start starts a server. A message from the server may have at most limit bytes. Grace is how long Close waits after
// closing stdin, and again after SIGTERM.
func Start(c Command, limit int, grace time.Duration) (*Server, error) {
	cmd, err := c.prepare()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(cmd, grace)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", c.Path, err)
	}
	return &Server{
		process: p,
		lines:   lineReader{r: bufio.NewReaderSize(p.stdout, 64<<10), limit: limit},
		out:     make(chan []byte),
		silent:  make(chan struct{}),
		broken:  make(chan struct{}),
	}, nil
}

// Connect implements [mcp.Transport].
func (s *Server) Connect(context.Context) (mcp.Connection, error) {
	go s.write()
	return s, nil
}

// SessionID implements [mcp.Connection].
func (s *Server) SessionID() string { return "" }

// Close stops the process. It implements [mcp.Connection].
func (s *Server) Close() error {
	s.closed.Store(true)
	return s.process.end()
}

// PID returns the ID of the process.
func (s *Server) PID() int { return s.process.cmd.Process.Pid }

// Ended reports whether the server has closed its stdout.
func (s *Server) Ended() bool { return s.ended.Load() }

// Exited reports whether the process has exited or exits within a short time.
func (s *Server) Exited() bool { return s.process.exits(drainTime) }

// Exit waits some seconds for the process to exit, and returns how it ended, such as "exit status 1". If the process is
// still running, ok is false. Its stderr has been read when Exit returns true.
func (s *Server) Exit() (status string, ok bool) {
	if !s.process.exits(2 * drainTime) {
		return "", false
	}
	<-s.process.done
	return s.process.status(), true
}

// Stderr returns the end of what the server wrote to stderr.
func (s *Server) Stderr() string { return s.process.stderr.String() }

// Noise returns how many lines of stdout were not messages.
func (s *Server) Noise() int {
	lines, _ := s.noise.seen()
	return lines
}

// Evidence returns what the server wrote in addition to MCP messages, for an error message.
func (s *Server) Evidence() string {
	var b strings.Builder
	if lines, first := s.noise.seen(); lines > 0 {
		fmt.Fprintf(&b, "\n  its stdout has a line that is not an MCP message: %q", first)
	}
	if text := s.Stderr(); text != "" {
		b.WriteString("\n  its stderr ends with:\n    " + strings.ReplaceAll(text, "\n", "\n    "))
	}
	return b.String()
}

// Read implements [mcp.Connection]. It skips and counts lines that are not messages.
func (s *Server) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := s.lines.next()
		if err == nil && isBatch(line) {
			err = errBatch
		}
		if err != nil {
			if !s.ended.Swap(true) {
				close(s.silent)
			}
			if errors.Is(err, errBatch) {
				return nil, err
			}
			return nil, io.EOF // whatever the error: the server is gone
		}
		msg := decode(line)
		switch {
		case s.closed.Load():
			return nil, io.EOF
		case msg != nil:
			return msg, nil
		}
		s.noise.add(line.Bytes())
	}
}

var batchStart = regexp.MustCompile(`^\s*\[\s*\{`)

// isBatch reports whether a line is a JSON-RPC batch. Other lines that begin with a bracket, such as "[INFO] ready",
// are usually logs.
func isBatch(line *message.Buffer) bool {
	return batchStart.Match(line.Bytes()) && bytes.Contains(line.Bytes(), []byte(`"jsonrpc"`))
}

// decode returns the message in a line, or an error response if the message cannot be decoded. It returns nil if the
// line is not a message.
func decode(line *message.Buffer) jsonrpc.Message {
	var rejected *jsonrpc.Response
	if line.Err() != nil {
		rejected = line.Reject()
	} else {
		msg, err := message.Decode(line.Bytes())
		if err == nil {
			return msg
		}
		rejected = message.Reject(line.Bytes(), err)
	}
	if rejected == nil {
		return nil
	}
	return rejected
}

// Write implements [mcp.Connection]. Another goroutine does the writing, so that a server
// that does not read its stdin blocks no call after its context is done, and no line is cut short.
func (s *Server) Write(ctx context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case s.out <- append(line, '\n'):
		return nil
	case <-s.broken:
		s.waitSilent(ctx)
		return ErrNotSent
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitSilent waits until an exited process's output has been read, because the output may explain why the process
// exited. After a failed write, the SDK stops reading.
func (s *Server) waitSilent(ctx context.Context) {
	select {
	case <-s.process.reaped:
	default:
		return
	}
	select {
	case <-s.silent:
	case <-time.After(drainTime):
	case <-ctx.Done():
	}
}

func (s *Server) write() {
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

// lineReader splits a stream into lines. It never holds more than limit bytes of a line.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

// next returns the next line without its line ending, which the last line may lack.
func (l *lineReader) next() (*message.Buffer, error) {
	line := message.NewBuffer(l.limit)
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil {
			part = bytes.TrimRight(part, "\r\n")
		}
		_, _ = line.Write(part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF) && line.Size() > 0:
			return line, nil
		default:
			return nil, err
		}
	}
}

// noise counts the lines of stdout that are not messages.
type noise struct {
	mu    sync.Mutex
	lines int
	first string
}

const noiseKept = 256 // bytes of the first line

func (n *noise) add(line []byte) {
	text := string(line[:min(len(line), noiseKept)])
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
