package mcptools

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/origin"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// server is one server in a [Servers]. It outlives its connections; its tools use the current connection.
type server struct {
	name      string
	config    ServerConfig      // how to start or reach the server; only its name if there is a transport
	transport mcp.Transport     // of a server that the caller runs
	oauth     auth.OAuthHandler // may be nil
	o         *Options

	life          context.Context // canceled by Close; has the values of Open's context
	cancel        context.CancelFunc
	watched       sync.WaitGroup // connections
	health        health
	notifications *notifications
	refresher     *refresher // nil unless Options.Background is set
	secrets       origin.Secrets

	mu       sync.Mutex
	attempt  *attempt          // the last attempt to connect; nil before the first
	tools    []*tools.Tool     // of the last listing
	pins     map[string]string // of the last listing
	first    map[string]string // the fingerprint of each tool when it was first listed
	refused  map[string]string // why calls to changed tools are refused, by tool
	listed   warnings          // of the last listing
	warnings warnings          // all other warnings
}

// newServer returns a server that lives until it is closed. Requests outside of calls use ctx's values, such as the
// identity of the caller that opened the servers.
func newServer(ctx context.Context, c ServerConfig, transport mcp.Transport, o *Options) *server {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{name: c.Name, config: c, transport: transport, o: o, life: life, cancel: cancel}
	s.health = health{log: o.Logger, state: Starting}
	s.notifications = newNotifications(s)
	if o.OAuth != nil && c.URL != "" {
		s.oauth = o.OAuth(c)
	}
	if o.Background {
		s.refresher = newRefresher(s)
	}
	return s
}

// timeout returns the bound for connecting and listing.
func (s *server) timeout() time.Duration {
	if s.config.Timeout > 0 {
		return s.config.Timeout
	}
	return s.o.ConnectTimeout
}

func (s *server) closing() bool { return s.life.Err() != nil }

// close stops the server, whatever it is doing, and prevents it from being started again.
func (s *server) close() error {
	s.mu.Lock()
	s.cancel()
	last := s.attempt
	s.mu.Unlock()
	s.notifications.close()
	if s.refresher != nil {
		defer func() { <-s.refresher.done }()
	}
	defer s.health.closed()
	if last == nil {
		return nil
	}
	<-last.done
	s.watched.Wait()
	if last.conn == nil || last.conn.process == nil {
		return nil
	}
	if err := last.conn.process.Close(); err != nil {
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

// warn adds and logs a warning that does not come from a listing.
func (s *server) warn(format string, args ...any) {
	text := s.about(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warnings.add(text) {
		s.o.Logger.Warn(text)
	}
}

func (s *server) about(format string, args ...any) string {
	return fmt.Sprintf("mcp server %q: ", s.name) + display.Text(message.Truncate(fmt.Sprintf(format, args...)))
}

// allWarnings returns all warnings about the server.
func (s *server) allWarnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Concat(s.listed.texts, s.warnings.texts)
	if more := s.listed.more + s.warnings.more; more > 0 {
		list = append(list, s.about("and %d more warnings", more))
	}
	return list
}

// warnings is a set of messages. It is bounded, because a server can cause any number of them.
type warnings struct {
	texts []string
	more  int
}

const maxWarnings = 100

// add adds a warning. It reports whether the warning is new and was kept.
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
