package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/mcptools"
)

// settings are the values of the flags and the environment variables.
type settings struct {
	codemode codemode.Options
	servers  mcptools.Options
	sandbox  sandbox.Options
	rules    sandbox.Rules
	serving  serve.Options
	oauth    serve.Introspection
	tokens   string // a file
	memory   int    // MiB
	rate     int
	model    string
	check    bool

	open func(name string) (llms.Model, error) // tests replace it
}

// secretVariable holds the secret for -oauth-introspect. There is no flag for it, because other users
// of the machine can read flags.
const secretVariable = "WRIT_OAUTH_SECRET"

func newSettings(stderr io.Writer) *settings {
	return &settings{
		sandbox: sandbox.Options{Limits: sandbox.Limits{Source: 1 << 20}}, memory: 256,
		open: func(name string) (llms.Model, error) {
			return models.Open(name, models.Options{Progress: stderr})
		},
	}
}

// flags returns the flags in the order in which -help lists them.
func (s *settings) flags() []option {
	c, limits, serving := &s.codemode, &s.sandbox.Limits, &s.serving
	return []option{
		{"config", "file", "", "the MCP servers whose tools programs may call", text(&c.Config)},
		{"trust", "names", "", "servers whose claims about their tools are believed, such as that a tool only reads",
			list(&s.servers.Trust)},
		{"startup", "duration", "2s",
			"how long the first list of tools waits for servers that are still starting; later tools are announced",
			duration(&c.Startup)},
		{"tools", "names", "all", "tools to offer, or patterns: execute_code, *_code_file", list(&c.Offer)},
		{"declarations", "tokens", "8000",
			"how much of execute_code's description may declare tools; the rest is found by searching", whole(&c.Declarations)},
		{"description", "characters", "no limit",
			"how long the description of execute_code may be; Claude Code shows 2048", whole(&c.Description)},

		{"time", "duration", "30s", "how long a program may take, including the tools that it waits for",
			duration(&limits.Time)},
		{"compute", "duration", "10s", "how much of -time a program may compute", duration(&limits.Compute)},
		{"memory", "MiB", "256", "how much memory a program may use", whole(&s.memory)},
		{"calls", "number", "1000", "how many tool calls a program may make", whole(&limits.Calls)},
		{"workers", "number", "2 per processor", "how many programs run at the same time", whole(&s.sandbox.Workers)},
		{"waiting", "number", "256", "how many programs may wait for their turn; clients take turns",
			whole(&c.Queue.Waiting)},
		{"max-lines", "number", "", "how many lines a program may have", whole(&s.rules.Lines)},
		{"max-characters", "number", "", "how many characters a program may have", whole(&s.rules.Characters)},
		{"forbid", "names", "", "names that no program may use", list(&s.rules.Names)},

		{"storage", "folder", "", "where code files, sessions and environments are kept; several servers may share it. " +
			"Without it, they are removed when the server ends", text(&c.Storage)},
		{"packages", "names", "", "npm packages that programs may import, or patterns: lodash-es, @scope/*",
			list(&c.Packages)},
		{"allow-install", "", "", "offers install_dependencies for -packages; it needs npm", yes(&c.AllowInstall)},

		{"model", "provider:model", "", "offers run_task with a model: openai:… (OPENAI_API_KEY), anthropic:… " +
			"(ANTHROPIC_API_KEY), ollama:… or, for tests, script:FILE with the replies", text(&s.model)},
		{"task-steps", "number", "10", "how many programs the model may write for a task", whole(&c.Task.Steps)},
		{"task-tokens", "number", "no limit", "how many tokens the model may read and write for a task",
			whole(&c.Task.Tokens)},
		{"task-time", "duration", "10m", "how long a task may take", duration(&c.Task.Time)},

		{"transport", "kind", "stdio", "how clients connect: stdio or http", text(&serving.Transport)},
		{"addr", "host:port", "127.0.0.1:8080", "where to listen; without -tokens or -oauth, on this machine only",
			text(&serving.Addr)},
		{"tokens", "file", "", "the clients that have access: " +
			`{"tokens": [{"principal": "ada", "sha256": "…", "tools": ["execute_code", "fs.read_*"]}]}`, text(&s.tokens)},
		{"oauth", "URL", "", "the authorization server that issues tokens, instead of -tokens", text(&s.oauth.Issuer)},
		{"oauth-introspect", "URL", "", "where to ask it about a token (RFC 7662); its answer must have sub or " +
			"client_id, and aud with -oauth-resource", text(&s.oauth.Endpoint)},
		{"oauth-client", "id", "", "the client ID for that; the secret is in the variable " + secretVariable,
			text(&s.oauth.ClientID)},
		{"oauth-resource", "URL", "", "this server's URL for clients; only tokens that were issued for it are accepted",
			text(&s.oauth.Resource)},
		{"rate", "number", "500", "how many messages a second one client may send", whole(&s.rate)},
		{"each", "number", "as -workers", "how many programs of one client may run at the same time",
			whole(&c.Queue.PerPrincipal)},
		{"hosts", "names", "", "names under which clients reach the server, in addition to -addr", list(&serving.Hosts)},
		{"origins", "URLs", "", "web pages that may send requests from a browser", list(&serving.Origins)},
		{"stateless", "", "", "keeps no sessions with clients of older protocols, so that any replica can answer",
			yes(&serving.Stateless)},
		{"grace", "duration", "5s", "how long running programs may continue at the end, before they are canceled",
			duration(&serving.Grace)},
		{"check", "", "", "print what would be served, and exit", yes(&s.check)},
	}
}

// complete computes the options from the flags. The error is everything that is wrong with them and
// can be found without starting anything.
func (s *settings) complete(ctx context.Context) (err error) {
	var errs []error
	if s.memory < 64 {
		errs = append(errs, fmt.Errorf("-memory %d: a program needs at least 64", s.memory))
	}
	s.sandbox.Limits.Memory, s.sandbox.Rules = int64(s.memory)<<20, &s.rules
	s.serving.Limits.Rate = float64(s.rate)
	s.codemode.Servers, s.codemode.Queue.Running = &s.servers, s.sandbox.Workers
	if s.model != "" {
		s.codemode.Model, err = s.open(s.model)
		errs = append(errs, err)
	}
	errs = append(errs, s.codemode.Check())
	if s.serving.Auth, err = s.authentication(); err != nil {
		return errors.Join(append(errs, err)...) // without Auth, more would seem wrong than is
	}
	return errors.Join(append(errs, s.serving.Check(ctx))...)
}

// authentication returns the settings that say which clients have access. If they are nil, every program on this
// machine has access.
func (s *settings) authentication() (*serve.Auth, error) {
	switch {
	case s.tokens != "" && s.oauth.Issuer != "":
		return nil, errors.New("-tokens and -oauth exclude each other")
	case s.tokens != "":
		return serve.TokenFile(s.tokens)
	case s.oauth.Issuer != "":
		return s.oauth.Auth()
	}
	return nil, nil
}
