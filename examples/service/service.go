// Service serves the runs of an agent over HTTP. The agent refunds orders, which a manager has to approve.
//
//	go run -C examples/service .
//
// starts a service in another process, asks it for a refund, kills and restarts it, approves, and shows that there was
// one refund. The model is scripted; everything else is real. To serve until Ctrl-C, with a real model:
//
//	go run -C examples/service . -serve localhost:8080 -db /tmp/service.db -model openai:gpt-5.1
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/httpapi"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal/sqljournal"
	"github.com/writ-go/writ/tools/policy"
	_ "modernc.org/sqlite"
)

func main() {
	addr := flag.String("serve", "", "`address` at which to serve; without it, the example starts a service and asks it")
	db := flag.String("db", "service.db", "SQLite `file` of -serve")
	model := flag.String("model", "", models.Usage+"; without it, the replies are scripted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *addr == "" {
		err = tell(ctx, os.Stdout, *model)
	} else {
		err = serve(ctx, *addr, *db, *model)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// lease is how long the runs of a process that was killed remain in use.
var lease = 30 * time.Second

// serve serves until ctx is done.
func serve(ctx context.Context, addr, file, model string) error {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := sqljournal.Open(ctx, db, &sqljournal.Options{Lease: lease})
	if err != nil {
		return err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	bot, err := newAgent(ctx, db, box, model)
	if err != nil {
		return err
	}
	runs := agent.NewRuns(store)
	runner, err := agent.NewRunner(runs, bot, &agent.RunnerOptions{Context: limit})
	if err != nil {
		return err
	}
	api, err := httpapi.New(runner, &httpapi.Options{
		Principal: func(r *http.Request) (string, error) { return r.Context().Value(userKey{}).(string), nil }, May: may,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: authenticate(api), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams of events end when ctx is done
	}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() { // no more requests, then no more runs, and then what they use is closed
		last, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		stopped <- errors.Join(server.Shutdown(last), runner.Shutdown(last))
	})
	go maintain(ctx, runs, runner)
	fmt.Printf("http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// limit limits what a run may use, in all its processes. Metrics and spans, with package agent/telemetry, belong here too.
func limit(ctx context.Context, _ agent.RunInfo) context.Context {
	return budget.With(ctx, budget.Limits{Steps: 20, ToolCalls: 100, Tokens: 500_000})
}

// maintain continues the runs of processes that have died, and removes old runs.
func maintain(ctx context.Context, runs *agent.Runs, runner *agent.Runner) {
	for ; ctx.Err() == nil; time.Sleep(lease) {
		_, err := runs.Prune(ctx, agent.Retention{Runs: 90 * 24 * time.Hour})
		if err = errors.Join(err, runner.Recover(ctx)); err != nil && ctx.Err() == nil {
			slog.Error("cannot recover or prune runs", "error", err)
		}
	}
}

// users are the people by their tokens. A real service verifies tokens that others issue, or stores their hashes.
var users = map[string]string{"ann-token": "ann", "bob-token": "bob", "meg-token": "meg"}

type userKey struct{}

// authenticate is the middleware that finds out who makes a request.
func authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, users[token])))
	})
}

// may lets people see their runs, and meg, the manager, see those of others and answer their tickets.
func may(_ context.Context, who string, run agent.RunInfo, ticket *agent.Waiting) bool {
	return who == run.Principal && ticket == nil || who == "meg" && who != run.Principal
}

type order struct {
	Order int `json:"order"`
}

// newAgent returns an agent that can refund orders, each after approval.
func newAgent(ctx context.Context, db *sql.DB, box *sandbox.Sandbox, name string) (*agent.Agent, error) {
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS refunds (id INTEGER)"); err != nil {
		return nil, err
	}
	refund := func(ctx context.Context, in order) (number int, err error) {
		err = db.QueryRowContext(ctx, "INSERT INTO refunds (id) VALUES (?) RETURNING rowid", in.Order).Scan(&number)
		return number, err
	}
	set, err := tools.NewSet(ctx, tools.Func("refund", "Refunds an order, and returns the number of the refund.", refund,
		&tools.Hints{Class: tools.Effect, Destructive: true}))
	if err != nil {
		return nil, err
	}
	var model llms.Model = llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: program}, nil
	})
	if name != "" {
		if model, err = models.Open(name, models.Options{}); err != nil {
			return nil, err
		}
	}
	set = set.With(policy.Audit(nil, nil), policy.If(policy.Destructive(), policy.Approve(nil))) // nil: the run pauses
	return agent.New(model, &agent.Options{Sandbox: box, Tools: set})
}

// program is what the scripted model writes for every task.
const program = "```js\n" + `const order = Number(task.match(/\d+/)[0]);
submit({ answer: "This was refund " + await refund({ order }) + "." });
` + "```"
