package codemode

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/search"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options configures a [Server]. The zero value of every field is its default.
type Options struct {
	// Tools are the tools that programs may call. Their policies also apply to the tools from Config. [Server.SetTools]
	// replaces them. Nil means no tools.
	Tools *tools.Set

	// Embedder, if set, lets searches find tools by meaning as well as by words; see [search.Index.ByMeaning].
	Embedder search.Embedder

	// Config is a configuration file for MCP servers whose tools programs may also call; see [mcptools.ReadConfig]. The
	// server connects to them in the background and follows the file: when it changes, the next program has the new
	// tools. If the new file cannot be used, the server keeps its tools and logs the reason.
	Config string

	// Servers configures the connections to the servers in Config. Its fields Background,
	// OnToolsChanged, Secrets and Logger are set by this package. Nil means the defaults.
	Servers *mcptools.Options

	// Startup is how long the first client waits for the servers in Config that are still connecting. When a slower
	// server has connected, clients are notified of its tools. Zero means 2 seconds.
	Startup time.Duration

	// Sandbox runs the programs. If it is nil, the server creates one with default options, and closes it.
	Sandbox *sandbox.Sandbox

	// Queue bounds how many programs run at once and how many wait. Running defaults to the default of
	// [sandbox.Options].Workers. Wait defaults to the sandbox's time limit plus 30 seconds. A client whose programs use
	// all their time therefore delays other clients' programs, but does not cause their rejection.
	Queue queue.Options

	// Model writes the programs for run_task. If it is nil, that tool is not offered.
	Model llms.Model

	// Task limits each task. The zero value is the default of every limit.
	Task TaskLimits

	// Storage is the folder for code files, sessions and environments. Several servers may share
	// it. If Storage is empty, the server uses a temporary folder, which Close removes.
	Storage string

	// Journal stores the runs of programs that are in progress or can be retried, so that clients can retry them after
	// the server has ended or crashed; see [journal.OpenDir]. Several servers may share it. The arguments and results
	// of calls are stored in plain text. If Journal is nil, runs are lost when the server ends.
	Journal journal.Store

	// Packages are the npm packages that programs may import: names, or patterns of [path.Match].
	// If it is empty, programs cannot import packages, and no tools for packages are offered.
	Packages []string

	// AllowInstall offers the tool install_dependencies for the packages in Packages. It needs npm.
	AllowInstall bool

	// Offer lists the server's own tools that are offered: names, or patterns in which * matches any string. If it is
	// only "execute_code", programs use tools.search and tools.describe to find tools that execute_code's description
	// does not declare. Empty means all of them.
	Offer []string

	// Programs is a folder of saved programs, which programs can call as tools: see WithPrograms of package agent. The
	// folder is read when the tools change. A client with restricted tools needs a pattern such as programs.*, and all
	// tools that the saved program calls. All saved programs that one program calls may together take as long as that
	// program. Empty means no saved programs.
	Programs string

	// Declarations is the maximum length, in tokens, of the tool declarations in execute_code's description. Zero means
	// the default of [declare.Markdown].
	Declarations int

	// Description is the maximum length, in characters, of execute_code's description. It must be at least 1024; zero
	// means no limit. Programs and models find tools that do not fit by searching. Claude Code shows 2048 characters of
	// a description.
	Description int

	// Instructions are added to the instructions that the server gives clients, which show them to
	// their models. Claude Code shows the first 2048 characters.
	Instructions string

	// Implementation identifies the server to clients. Nil means Writ.
	Implementation *mcp.Implementation

	// MeterProvider creates the metrics, instead of those of Queue and of [serve.Options]. Nil means no metrics.
	MeterProvider metric.MeterProvider

	// TracerProvider creates a span for each tool call of a client, instead of that of [serve.Options]. Nil means no
	// spans. For spans of the tasks and tool calls within, pass Serve a context from Observe of package telemetry.
	TracerProvider trace.TracerProvider

	// Logger logs events, without the secrets of the servers in Config. Nil logs nothing.
	Logger *slog.Logger
}

// TaskLimits limits one task of run_task. A client may set lower limits.
type TaskLimits struct {
	Steps  int           // programs that the model may write; zero means 10
	Tokens int           // the model's input and output tokens together; zero means no limit
	Time   time.Duration // zero means 10 minutes
}

// Check returns all errors in the options. [New] checks them too.
func (o *Options) Check() error {
	if o == nil {
		return nil
	}
	var errs []error
	if o.Config != "" {
		_, err := readConfig(o.Config)
		errs = append(errs, err)
	}
	if o.Programs != "" {
		if _, err := os.ReadDir(o.Programs); err != nil {
			errs = append(errs, fmt.Errorf("programs: %w", err))
		}
	}
	for _, name := range o.Packages {
		if _, err := path.Match(name, ""); err != nil || strings.ContainsAny(name, " \t") {
			errs = append(errs, fmt.Errorf("packages: %q is not a valid name or pattern of packages", name))
		}
	}
	if o.AllowInstall && len(o.Packages) == 0 {
		errs = append(errs, errors.New("allow install: list the packages that may be installed, because their code is "+
			"not trusted"))
	}
	if _, err := exec.LookPath("npm"); o.AllowInstall && err != nil {
		errs = append(errs, fmt.Errorf("allow install: %w; install Node.js, which includes npm", err))
	}
	for _, pattern := range o.Offer {
		if own := (serve.Principal{Name: "all", Tools: []string{pattern}}); !slices.ContainsFunc(names(), own.Allows) {
			suggestion := didYouMean(pattern, names())
			errs = append(errs, fmt.Errorf("offer: %q matches no tool of this server%s", pattern, suggestion))
		}
	}
	return errors.Join(append(errs, o.checkLimits()...)...)
}

func (o *Options) checkLimits() (errs []error) {
	if o.Description > 0 && o.Description < minDescription {
		errs = append(errs, fmt.Errorf("description: must be at least %d characters, which the explanation of "+
			"programs needs", minDescription))
	}
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"declarations", o.Declarations}, {"description", o.Description}, {"startup", int(o.Startup)},
		{"steps of a task", o.Task.Steps}, {"tokens of a task", o.Task.Tokens}, {"time of a task", int(o.Task.Time)},
		{"running programs", o.Queue.Running}, {"running programs of one principal", o.Queue.PerPrincipal},
		{"wait for a turn", int(o.Queue.Wait)},
	} {
		if limit.value < 0 {
			errs = append(errs, fmt.Errorf("%s: must not be negative", limit.name))
		}
	}
	return errs
}

// didYouMean suggests the name that is most similar to a pattern, or returns "" if no name is similar.
func didYouMean(pattern string, names []string) string {
	if near := similar.Nearest(pattern, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

func (o *Options) defaults() *Options {
	d := Options{}
	if o != nil {
		d = *o
	}
	d.Startup = cmp.Or(d.Startup, 2*time.Second)
	d.Queue.Running = cmp.Or(d.Queue.Running, max(4, 2*runtime.NumCPU()))
	d.Task.Steps = cmp.Or(d.Task.Steps, 10)
	d.Task.Time = cmp.Or(d.Task.Time, 10*time.Minute)
	if d.Implementation == nil {
		d.Implementation = &mcp.Implementation{Name: "writ", Title: "Writ", Version: "0.1.0"}
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	return &d
}
