package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/examples/internal/apis"
	"github.com/writ-go/writ/examples/internal/logins"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/mcptools"
)

// settings are the values from the flags and the environment variables.
type settings struct {
	codemode codemode.Options
	servers  mcptools.Options
	sandbox  sandbox.Options
	rules    sandbox.Rules
	serving  serve.Options
	apis     []tools.Source
	oauth    serve.Introspection
	tokens   string // the path of the token file
	memory   int    // MiB
	rate     int
	model    string
	journal  string
	check    bool
	logins   logins.Flags

	open func(name string) (llms.Model, error) // tests replace it
}

// secretVariable is the environment variable with the secret for -oauth-introspect. There is no flag for the
// secret, because other users of the machine can read flags.
const secretVariable = "WRIT_OAUTH_SECRET"

func newSettings(stderr io.Writer) *settings {
	return &settings{
		sandbox: sandbox.Options{Limits: sandbox.Limits{Source: 1 << 20}},
		open: func(name string) (llms.Model, error) {
			return models.Open(name, models.Options{Progress: stderr})
		},
	}
}

// flags returns the flags, which set s. If a flag is not set, the option has its default.
func (s *settings) flags() *flag.FlagSet {
	c, limits, serving := &s.codemode, &s.sandbox.Limits, &s.serving
	f := flag.NewFlagSet("mcpserver", flag.ContinueOnError)
	f.StringVar(&c.Config, "config", "", "the MCP servers whose tools programs may call")
	apis.Flag(f, &s.apis)
	f.Func("trust",
		"servers to trust when they make claims about their tools, such as that a tool only reads",
		list(&s.servers.Trust))
	f.DurationVar(&c.Startup, "startup", 0,
		"how long the first tool list waits for servers that are still starting; clients are notified of "+
			"later tools (default 2s)")
	f.Func("tools", "tools to offer, or patterns: execute_code, *_code_file (default all)", list(&c.Offer))
	f.StringVar(&c.Programs, "programs", "", "the folder of saved programs, which programs can call as tools")
	f.IntVar(&c.Declarations, "declarations", 0,
		"how many tokens of execute_code's description may declare tools; programs search for the other tools "+
			"(default 8000)")
	f.IntVar(&c.Description, "description", 0,
		"how many characters the description of execute_code may have; Claude Code shows 2048 (default no limit)")

	f.DurationVar(&limits.Time, "time", 0,
		"how long a program may take, including the tools that it waits for (default 30s)")
	f.DurationVar(&limits.Compute, "compute", 0, "how much CPU time a program may use, within -time (default 10s)")
	f.IntVar(&s.memory, "memory", 256, "how many MiB of memory a program may use")
	f.IntVar(&limits.Calls, "calls", 0, "how many tool calls a program may make (default 1000)")
	f.IntVar(&s.sandbox.Workers, "workers", 0, "how many programs run at the same time (default 2 per processor)")
	f.IntVar(&c.Queue.Waiting, "waiting", 0,
		"how many programs may wait for their turn; clients take turns (default 256)")
	f.IntVar(&s.rules.Lines, "max-lines", 0, "how many lines a program may have")
	f.IntVar(&s.rules.Characters, "max-characters", 0, "how many characters a program may have")
	f.Func("forbid", "names that no program may use", list(&s.rules.Names))

	f.StringVar(&c.Storage, "storage", "",
		"the folder for code files, sessions and environments; several servers may share it. "+
			"Without it, they are removed when the server ends")
	f.StringVar(&s.journal, "journal", "",
		"the folder in which programs that are running or failed are recorded, with the arguments and results of "+
			"their calls, so that clients can retry them after the server has ended; several servers may share it")
	f.Func("packages", "npm packages that programs may import, or patterns: lodash-es, @scope/*", list(&c.Packages))
	f.BoolVar(&c.AllowInstall, "allow-install", false, "offers install_dependencies for -packages; it needs npm")

	f.StringVar(&s.model, "model", "",
		"offers run_task with a model: openai:… (OPENAI_API_KEY), anthropic:… "+
			"(ANTHROPIC_API_KEY), ollama:… or, for tests, script:FILE with the replies")
	f.IntVar(&c.Task.Steps, "task-steps", 0, "how many programs the model may write for a task (default 10)")
	f.IntVar(&c.Task.Tokens, "task-tokens", 0,
		"how many tokens the model may read and write for a task (default no limit)")
	f.DurationVar(&c.Task.Time, "task-time", 0, "how long a task may take (default 10m)")

	f.StringVar(&serving.Transport, "transport", "",
		"how clients connect: stdio or http (default stdio)")
	f.StringVar(&serving.Addr, "addr", "",
		"where to listen; without -tokens or -oauth, on this machine only (default 127.0.0.1:8080)")
	f.StringVar(&s.tokens, "tokens", "",
		"the clients that have access: "+
			`{"tokens": [{"principal": "ada", "sha256": "…", "tools": ["execute_code", "fs.read_*"]}]}`)
	f.StringVar(&s.oauth.Issuer, "oauth", "",
		"the authorization server that issues tokens, instead of -tokens; a token must be a JWT with sub or "+
			"client_id, and aud with -oauth-resource")
	f.StringVar(&s.oauth.Endpoint, "oauth-introspect", "",
		"the URL at which the authorization server answers questions about tokens that are not JWTs (RFC 7662)")
	f.StringVar(&s.oauth.ClientID, "oauth-client", "",
		"the client ID for -oauth-introspect; the secret is in the variable "+secretVariable)
	f.StringVar(&s.oauth.Resource, "oauth-resource", "",
		"this server's URL for clients; only tokens that were issued for this URL are accepted (default "+
			"http://127.0.0.1:8080/mcp, with the address of -addr)")
	f.IntVar(&s.rate, "rate", 0, "how many messages a second one client may send (default 500)")
	f.IntVar(&c.Queue.PerPrincipal, "each", 0,
		"how many programs of one client may run at the same time (default as -workers)")
	f.Func("hosts", "names under which clients reach the server, in addition to -addr", list(&serving.Hosts))
	f.Func("origins", "web pages that may send requests from a browser", list(&serving.Origins))
	f.BoolVar(&serving.Stateless, "stateless", false,
		"keep no sessions with clients of older protocols, so that any replica can serve any request")
	f.DurationVar(&serving.Grace, "grace", 0,
		"how long running programs may continue during the shutdown, before they are canceled (default 5s)")
	s.logins.Define(f)
	f.BoolVar(&s.check, "check", false, "print what would be served, and exit")
	return f
}

// complete computes the options from the flags. The error lists all problems that can be found without starting
// anything.
func (s *settings) complete(ctx context.Context) (err error) {
	var errs []error
	if s.memory < 64 {
		errs = append(errs, fmt.Errorf("-memory %d is too small; a program needs at least 64 MiB", s.memory))
	}
	s.sandbox.Limits.Memory, s.sandbox.Rules = int64(s.memory)<<20, &s.rules
	s.serving.Rate = float64(s.rate)
	s.codemode.Servers, s.codemode.Queue.Running = &s.servers, s.sandbox.Workers
	s.servers.OAuth = logins.Handler("mcpserver", s.codemode.Config)
	s.oauth.Resource = cmp.Or(s.oauth.Resource, "http://"+cmp.Or(s.serving.Addr, "127.0.0.1:8080")+"/mcp")
	if s.model != "" {
		s.codemode.Model, err = s.open(s.model)
		errs = append(errs, err)
	}
	if s.journal != "" {
		s.codemode.Journal, err = journal.OpenDir(s.journal)
		errs = append(errs, err)
	}
	if len(s.apis) > 0 {
		s.codemode.Tools, err = tools.NewSet(ctx, s.apis...)
		errs = append(errs, err)
	}
	errs = append(errs, s.codemode.Check())
	if s.serving.Auth, err = s.authentication(); err != nil {
		return errors.Join(append(errs, err)...) // without Auth, Check would report false errors
	}
	return errors.Join(append(errs, s.serving.Check(ctx))...)
}

// authentication returns the authentication of clients, or nil if every program on this machine has access.
func (s *settings) authentication() (*serve.Auth, error) {
	switch {
	case s.tokens != "" && s.oauth.Issuer != "":
		return nil, errors.New("-tokens and -oauth cannot be combined; set only one of them")
	case s.tokens != "":
		return serve.TokenFile(s.tokens)
	case s.oauth.Issuer != "" && s.oauth.Endpoint == "":
		return serve.JWT{Issuer: s.oauth.Issuer, Resource: s.oauth.Resource}.Auth()
	case s.oauth.Issuer != "":
		return s.oauth.Auth()
	}
	return nil, nil
}
