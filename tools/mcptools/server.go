package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// olderVersion is the protocol that is spoken first to a server on stdio. Most
// know it, and the others say so at once; while of those that do not know the
// newer one, some end at its first message and some fall silent, which cannot be
// told from an npx that is still fetching the server.
const olderVersion = "2025-11-25"

// server is one server of a [Servers], connected or not.
type server struct {
	name      string
	config    ServerConfig  // how to start it, unless there is a transport
	transport mcp.Transport // how to reach one that somebody else runs
	o         *Options

	// Set by connect, which nothing else runs beside.
	session *mcp.ClientSession
	link    *tap
	stdio   *stdio        // nil for a transport
	watched chan struct{} // closed when the session has ended
	closing atomic.Bool

	mu       sync.Mutex
	err      error // why it is not connected
	listErr  error // why the last listing failed
	tools    int
	warnings []string
}

// timeout bounds connecting and listing.
func (s *server) timeout() time.Duration {
	if s.config.Timeout > 0 {
		return s.config.Timeout
	}
	return s.o.ConnectTimeout
}

// connect starts the server and shakes hands. Its error is also the server's.
func (s *server) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	if err := s.dial(ctx); err != nil {
		err = fmt.Errorf("mcp server %q: %w", s.name, err)
		s.fail(err)
		return err
	}
	s.watched = make(chan struct{})
	go s.watch()
	s.o.Logger.InfoContext(ctx, "mcp server connected", "server", s.name, "protocol", s.version())
	return nil
}

func (s *server) dial(ctx context.Context) error {
	switch {
	case s.transport != nil:
		if err := s.shakeHands(ctx, s.transport, ""); err != nil {
			return fmt.Errorf("handshake: %w", err)
		}
		return nil
	case s.config.URL != "":
		return s.dialURL(ctx)
	}
	err := s.start(ctx, olderVersion)
	if answer := (*handshakeError)(nil); errors.As(err, &answer) && answer.refused && ctx.Err() == nil {
		err = s.start(ctx, "")
	}
	return err
}

// start starts the process and shakes hands with it. On error it is gone.
func (s *server) start(ctx context.Context, version string) error {
	cmd, err := s.config.command(s.o.Env)
	if err != nil {
		return err
	}
	p, err := startProcess(cmd, s.o.Grace)
	if err != nil {
		return fmt.Errorf("starting %q: %w", s.config.Command, err)
	}
	s.stdio = newStdio(p, s.o.MaxMessage)
	if err := s.shakeHands(ctx, s.stdio, version); err != nil {
		died := isLost(err) && p.ends(drainTime)
		_ = p.end()
		return s.handshakeFailed(ctx, err, died)
	}
	return nil
}

func (s *server) shakeHands(ctx context.Context, t mcp.Transport, version string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "writ", Version: "0"}, &mcp.ClientOptions{
		// No roots: a server that is told of them may ask for them, and take
		// the empty answer for an order.
		Capabilities: &mcp.ClientCapabilities{},
		Logger:       s.o.Logger,
	})
	link := &tap{Transport: t, limit: s.o.MaxMessage}
	session, err := client.Connect(ctx, link, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	s.session, s.link = session, link
	return nil
}

// handshakeError is the failure of a process that did start.
type handshakeError struct {
	message string
	refused bool // it answered: another protocol may help
	err     error
}

func (e *handshakeError) Error() string { return e.message }
func (e *handshakeError) Unwrap() error { return e.err }

func (s *server) handshakeFailed(ctx context.Context, err error, died bool) error {
	var what string
	refused := false
	switch {
	case died:
		what = fmt.Sprintf("ended before it answered (%s); run its command by hand to see why", s.stdio.process.status())
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		what = fmt.Sprintf("no answer within %v; see that its command starts an MCP server on stdio, or raise the timeout", s.timeout())
	case ctx.Err() != nil:
		what = "connecting was cancelled"
	default:
		what, refused = fmt.Sprintf("handshake: %v", err), true
	}
	return &handshakeError{message: what + s.evidence(), refused: refused, err: err}
}

// evidence is what the process left behind to explain a failure.
func (s *server) evidence() string {
	if s.stdio == nil {
		return ""
	}
	var b strings.Builder
	if lines, first := s.stdio.noise.seen(); lines > 0 {
		fmt.Fprintf(&b, "\n  its stdout was no MCP message: %q", first)
	}
	if text := s.stdio.process.stderr.String(); text != "" {
		b.WriteString("\n  its stderr ends:\n    " + strings.ReplaceAll(text, "\n", "\n    "))
	}
	return b.String()
}

// watch notices the end of a server that nobody closed.
func (s *server) watch() {
	defer close(s.watched)
	_ = s.session.Wait()
	if s.closing.Load() {
		return
	}
	s.fail(s.lost())
}

// isLost reports whether a request failed because the connection is gone.
func isLost(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
}

// lost says that the server is gone, and why as far as is known.
func (s *server) lost() error {
	if s.stdio == nil {
		return fmt.Errorf("mcp server %q closed the connection; connect again", s.name)
	}
	p := s.stdio.process
	if !p.ends(2 * drainTime) {
		return fmt.Errorf("mcp server %q closed its stdout; open the servers again%s", s.name, s.evidence())
	}
	<-p.done
	return fmt.Errorf("mcp server %q ended (%s); open the servers again%s", s.name, p.status(), s.evidence())
}

func (s *server) fail(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	s.o.Logger.Error("mcp server failed", "server", s.name, "error", err)
}

func (s *server) version() string {
	if s.session == nil || s.session.InitializeResult() == nil {
		return ""
	}
	return s.session.InitializeResult().ProtocolVersion
}

// request makes one request and returns its result as the server wrote it.
func (s *server) request(ctx context.Context, do func(context.Context) (any, error)) (json.RawMessage, error) {
	var r reply
	defer s.link.forget(&r)
	result, err := do(withReply(ctx, &r))
	if why := r.why.Load(); why != nil && err != nil && ctx.Err() == nil {
		err = *why
	}
	switch {
	case err != nil && r.asked.Load() && ctx.Err() == nil:
		return nil, &refusedError{err}
	case err != nil:
		return nil, err
	case r.raw != nil:
		return r.raw, nil
	default:
		return json.Marshal(result)
	}
}

// refusedError says that the server asked its client for something, such as a
// decision of the user, and did not get it.
type refusedError struct{ err error }

func (e *refusedError) Error() string {
	return "the tool asked its client for something: " + e.err.Error()
}
func (e *refusedError) Unwrap() error { return e.err }

// warn notes what the host should know of the server.
func (s *server) warn(format string, args ...any) {
	text := fmt.Sprintf("mcp server %q: ", s.name) + fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.warnings, text) {
		return
	}
	s.warnings = append(s.warnings, text)
	s.o.Logger.Warn(text)
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Name: s.name, Err: cmp.Or(s.err, s.listErr), ProtocolVersion: s.version(), Tools: s.tools}
	if s.stdio != nil {
		status.Noise, _ = s.stdio.noise.seen()
		status.Stderr = s.stdio.process.stderr.String()
	}
	return status
}

// close ends the session and waits for the process. Calls in flight may still
// be answered while the process ends; then they fail.
func (s *server) close() error {
	s.closing.Store(true)
	if s.session == nil {
		return nil
	}
	err := s.link.conn.Close()
	_ = s.session.Close()
	<-s.watched
	if s.stdio == nil {
		return nil // what a transport says of its own end helps nobody
	}
	if err != nil {
		return fmt.Errorf("mcp server %q: %w", s.name, err)
	}
	return nil
}
