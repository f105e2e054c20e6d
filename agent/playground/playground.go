// Package playground is a page on which a person gives tasks to an agent, watches what it does, decides on the calls
// that need approval, stops and resumes runs, and saves their reports:
//
//	page := playground.New(agent.NewRuns(journal.NewMemory()), bot, nil)
//	err := page.Serve(ctx, "127.0.0.1:0", os.Stderr)
//
// The agent's tools may be Go functions. Calls that need approval wait on the page if the tools have the policy
// policy.Approve(nil), and calls that resemble earlier ones if agent.Runs.AskHolds is set.
//
// Whoever knows the URL can do what the agent can do. The page is served on loopback addresses only. Each request needs
// the random token in the URL, its Host must be the address that is listened on, and the Origin of a request that does
// something must be the page itself. Text from models and tools is shown as text.
//
// The page lists the 100 newest runs in the store, and shows the steps of those that this Playground has run. Their
// events are kept in memory, up to 8 MB for each run: the oldest are left out.
package playground

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
)

// Options configures a Playground. The zero value, and nil, are the defaults.
type Options struct {
	// Title is the heading of the page. The default is "Playground".
	Title string

	// Note is shown below the heading, such as the name of the model.
	Note string

	// Example is the task that the form contains at first.
	Example string
}

// Playground serves the page. It is safe for concurrent use.
type Playground struct {
	store   *agent.Runs
	bot     module.Module[agent.Task, agent.Answer]
	options Options
	token   string
	mux     *http.ServeMux
	ctx     context.Context // of all runs
	cancel  context.CancelFunc
	load    sync.Once

	mu      sync.Mutex
	runs    []*run        // the oldest first
	changed chan struct{} // closed when anything changes, and replaced
	closed  bool
	going   sync.WaitGroup
}

// New returns a Playground for an agent, or any other module with the same input and output. The runs are durable; a
// store in memory is enough if they need not be resumed in another process. Nil options are the defaults.
func New(runs *agent.Runs, bot module.Module[agent.Task, agent.Answer], o *Options) *Playground {
	p := &Playground{store: runs, bot: bot, token: rand.Text(), changed: make(chan struct{})}
	if o != nil {
		p.options = *o
	}
	if p.options.Title == "" {
		p.options.Title = "Playground"
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.routes()
	return p
}

// Path returns the path of the page, which contains the token, for programs that serve the Playground as an
// [http.Handler]. They must listen on a loopback address.
func (p *Playground) Path() string { return "/" + p.token + "/" }

// Serve serves the page on a loopback address, such as "127.0.0.1:0", and writes its URL to w. When ctx is done, Serve
// pauses the runs in progress, waits until they have paused, and returns nil. Then the Playground begins no more runs.
func (p *Playground) Serve(ctx context.Context, addr string, w io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("playground: %w", err)
	}
	if !loopback(listener.Addr()) {
		_ = listener.Close()
		return fmt.Errorf("playground: %s is not a loopback address; use 127.0.0.1:0, and SSH to reach the page from "+
			"another machine", addr)
	}
	defer p.cancel()
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() {
		p.pauseAll()
		_ = server.Close() // the streams of events do not end by themselves
	})()
	fmt.Fprintf(w, "http://%s%s\n", listener.Addr(), p.Path())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("playground: %w", err)
	}
	p.going.Wait()
	return nil
}

// pauseAll pauses the runs in progress, and lets no other run begin.
func (p *Playground) pauseAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, r := range p.runs {
		if r.State == agent.Running {
			p.store.Pause(r.ID)
		}
	}
}

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
