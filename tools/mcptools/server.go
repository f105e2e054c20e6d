package mcptools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

// olderVersion is the protocol that is spoken first to a server on stdio. Most
// know it, and the others say so at once; while of those that do not know the
// newer one, some end at its first message and some fall silent, which cannot be
// told from an npx that is still fetching the server.
const olderVersion = "2025-11-25"

// server is one server of a [Servers]. Connections to it come and go; its tools
// are bound to the server and use the one that there is.
type server struct {
	name      string
	config    ServerConfig  // how to start it, unless there is a transport
	transport mcp.Transport // how to reach one that somebody else runs
	o         *Options

	life    context.Context // until Close, with the values of Open's
	finish  context.CancelFunc
	watched sync.WaitGroup // the connections that there are
	health  health
	notices *notices
	keeper  *keeper // nil unless Options.Background is set
	secrets secrets

	mu       sync.Mutex
	attempt  *attempt          // the last to connect; nil before the first
	tools    []*tools.Tool     // of the last listing
	pins     map[string]string // of the last listing
	first    map[string]string // of each tool when it was first listed
	refused  map[string]string // what is refused to a call of a tool that has changed, by tool
	listed   warnings          // of the last listing
	warnings warnings          // all others
}

// newServer makes a server that lives until it is closed, with the values of ctx:
// what belongs to no call is done in the name of whoever opened the servers.
func newServer(ctx context.Context, config ServerConfig, transport mcp.Transport, o *Options) *server {
	life, finish := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{name: config.Name, config: config, transport: transport, o: o, life: life, finish: finish}
	s.health = health{log: o.Logger, state: Idle, since: time.Now()}
	s.notices = newNotices(s)
	if o.Background {
		s.keeper = newKeeper(s)
	}
	return s
}

// timeout bounds connecting and listing.
func (s *server) timeout() time.Duration {
	if s.config.Timeout > 0 {
		return s.config.Timeout
	}
	return s.o.ConnectTimeout
}

// closing reports whether the server is being closed.
func (s *server) closing() bool { return s.life.Err() != nil }

// dial starts the server, if it is ours to start, and shakes hands.
func (s *server) dial(ctx context.Context) (*connection, error) {
	switch {
	case s.transport != nil:
		c := &connection{server: s}
		if err := c.shakeHands(ctx, s.transport, ""); err != nil {
			return nil, wordHandshake(err, "that the transport leads to one")
		}
		return c, nil
	case s.config.URL != "":
		return s.dialURL(ctx)
	}
	c, err := s.start(ctx, olderVersion)
	if answer := (*handshakeError)(nil); errors.As(err, &answer) && answer.refused && ctx.Err() == nil {
		c, err = s.start(ctx, "")
	}
	return c, err
}

// start starts the process and shakes hands with it. On error it is gone.
func (s *server) start(ctx context.Context, version string) (*connection, error) {
	cmd, err := s.config.command(s.o.Env)
	if err != nil {
		return nil, err
	}
	p, err := startProcess(cmd, s.o.Grace)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", s.config.Command, err)
	}
	c := &connection{server: s, stdio: newStdio(p, s.o.MaxMessage)}
	s.health.runs(c.stdio)
	if err := c.shakeHands(ctx, c.stdio, version); err != nil {
		died := isLost(err) && p.ends(drainTime)
		_ = p.end()
		return nil, c.handshakeFailed(ctx, err, died)
	}
	return c, nil
}

func (c *connection) shakeHands(ctx context.Context, t mcp.Transport, version string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "writ", Version: "0"}, c.clientOptions())
	link := &tap{Transport: bounding(c, t), limit: c.server.o.MaxMessage, grace: c.server.o.Grace}
	link.notice = c.server.notices.note
	session, err := client.Connect(ctx, link, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	c.session, c.link, c.gone = session, link, make(chan struct{})
	c.wantLogs(ctx)
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

func (c *connection) handshakeFailed(ctx context.Context, err error, died bool) error {
	var what string
	refused := false
	switch {
	case died:
		what = fmt.Sprintf("ended before it answered (%s); run its command by hand to see why", c.stdio.process.status())
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		what = fmt.Sprintf("no answer within %v; see that its command starts an MCP server on stdio, or raise the timeout", c.server.timeout())
	case ctx.Err() != nil:
		what = "connecting was cancelled"
	default:
		what, refused = wordHandshake(err, "that its command starts one on stdio").Error(), true
	}
	return &handshakeError{message: what + c.evidence(), refused: refused, err: err}
}

// warn notes what the host should know of the server, and no listing says.
func (s *server) warn(format string, args ...any) {
	text := s.about(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warnings.add(text) {
		s.o.Logger.Warn(text)
	}
}

// wordHandshake says what to do about an answer that no MCP server gives.
func wordHandshake(err error, see string) error {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && wire.Code == jsonrpc.CodeMethodNotFound {
		return fmt.Errorf("handshake: %w; it answered, but not as an MCP server; see %s", err, see)
	}
	return fmt.Errorf("handshake: %w", err)
}

func (s *server) about(format string, args ...any) string {
	return fmt.Sprintf("mcp server %q: ", s.name) + cutMessage(fmt.Sprintf(format, args...))
}

// warned returns all warnings about the server.
func (s *server) warned() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Concat(s.listed.texts, s.warnings.texts)
	if more := s.listed.more + s.warnings.more; more > 0 {
		list = append(list, s.about("and %d more warnings", more))
	}
	return list
}

// warnings are different from each other and bounded: the server decides how many
// there are.
type warnings struct {
	texts []string
	more  int
}

const maxWarnings = 100

// add reports whether the warning is new and kept.
func (w *warnings) add(text string) bool {
	switch {
	case slices.Contains(w.texts, text):
		return false
	case len(w.texts) == maxWarnings:
		w.more++
		return false
	}
	w.texts = append(w.texts, text)
	return true
}

// close ends the server, whatever it is doing, and keeps it from coming back.
func (s *server) close() error {
	s.mu.Lock()
	s.finish()
	last := s.attempt
	s.mu.Unlock()
	s.notices.close()
	if s.keeper != nil {
		defer func() { <-s.keeper.done }()
	}
	defer s.health.closed()
	if last == nil {
		return nil
	}
	<-last.done
	s.watched.Wait()
	if last.conn == nil || last.conn.stdio == nil {
		return nil // what a transport says of its own end helps nobody
	}
	if err := last.conn.stdio.process.end(); err != nil {
		return fmt.Errorf("mcp server %q: %w", s.name, err)
	}
	return nil
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Name: s.name, Tools: len(s.tools)}
	s.health.fill(&status)
	if c := s.attempt.connection(); c != nil && status.Err == nil {
		status.Err = c.listErr
	}
	return status
}
