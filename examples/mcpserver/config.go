package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/npm"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/mcptools/serve"
)

// settings are the values of the flags and the environment variables.
type settings struct {
	config       string
	trust        []string
	startup      time.Duration
	declarations int
	storage      string
	install      bool
	packages     []string
	limits       sandbox.Limits
	memory       int // MiB
	workers      int
	waiting      int
	each, rate   int
	rules        sandbox.Rules
	model        string
	task         taskLimits
	serving      serve.Options
	tokens       string // a file
	oauth        oauth
	check        bool

	open func(name string) (llms.Model, error) // another one in tests
}

func newSettings(stderr io.Writer) *settings {
	return &settings{
		limits: sandbox.Limits{Time: 30 * time.Second, Compute: 10 * time.Second, Calls: 100, Source: 1 << 20},
		memory: 256, startup: 2 * time.Second,
		task: taskLimits{steps: 10, time: 10 * time.Minute},
		open: func(name string) (llms.Model, error) {
			return models.Open(name, models.Options{Progress: stderr})
		},
	}
}

// options are the flags, in the order in which -help shows them.
func (s *settings) options() []option {
	return []option{
		{"config", "file", "", "lists the MCP servers whose tools programs may call", text(&s.config)},
		{"trust", "names", "", "servers whose word is taken on which of their tools only read", list(&s.trust)},
		{"startup", "duration", "2s",
			"how long the first list of tools waits for servers that are still starting; what they have later is announced",
			duration(&s.startup)},
		{"declarations", "tokens", "8000",
			"how much of execute_code's description may declare tools; the rest is found by search_tools",
			whole(&s.declarations)},

		{"time", "duration", "30s", "how long a program may take, with the tools that it waits for",
			duration(&s.limits.Time)},
		{"compute", "duration", "10s", "how much of -time a program may compute", duration(&s.limits.Compute)},
		{"memory", "MiB", "256", "how much memory a program may use", whole(&s.memory)},
		{"calls", "number", "100", "how many tool calls a program may make", whole(&s.limits.Calls)},
		{"workers", "number", "2 per processor", "how many programs run at the same time", whole(&s.workers)},
		{"waiting", "number", "256",
			"how many programs may wait for their turn; clients take turns, and what is too much is told to try again",
			whole(&s.waiting)},
		{"max-lines", "number", "", "how many lines a program may have", whole(&s.rules.Lines)},
		{"max-characters", "number", "", "how many characters a program may have", whole(&s.rules.Characters)},
		{"forbid", "names", "", "names that no program may use", list(&s.rules.Names)},

		{"storage", "folder", "",
			"where code files, sessions and environments are kept; several servers may share it. Without it they go with " +
				"the server", text(&s.storage)},
		{"packages", "names", "", "npm packages that programs may import, or patterns: lodash-es, @scope/*",
			list(&s.packages)},
		{"allow-install", "", "", "offers install_dependencies, for -packages; it needs npm", yes(&s.install)},

		{"model", "provider:model", "",
			"offers run_task, done by openai:… (OPENAI_API_KEY), anthropic:… (ANTHROPIC_API_KEY), ollama:… or, for tests," +
				" script:FILE with the replies", text(&s.model)},
		{"task-steps", "number", "10", "how many programs the model may write for a task", whole(&s.task.steps)},
		{"task-tokens", "number", "no limit", "how many tokens the model may read and write for a task",
			whole(&s.task.tokens)},
		{"task-time", "duration", "10m", "how long a task may take", duration(&s.task.time)},

		{"transport", "kind", "stdio", "how clients connect: stdio, http, or sse for old ones", text(&s.serving.Transport)},
		{"addr", "host:port", "127.0.0.1:8080", "where to listen; without -tokens, on this machine only",
			text(&s.serving.Addr)},
		{"tokens", "file", "",
			`who may ask: {"tokens": [{"principal": "ada", "sha256": "…", "tools": ["execute_code", "fs.read_*"]}]}`,
			text(&s.tokens)},
		{"oauth", "URL", "", "the authorization server that issues tokens, instead of -tokens", text(&s.oauth.issuer)},
		{"oauth-introspect", "URL", "", "where it says what a token is worth (RFC 7662)", text(&s.oauth.introspect)},
		{"oauth-client", "id", "", "who asks there; the secret is in the variable " + secretVariable, text(&s.oauth.client)},
		{"oauth-resource", "URL", "", "this server, as clients have it: only tokens that were issued for it are taken",
			text(&s.oauth.resource)},
		{"rate", "number", "500", "how many messages a second one client may send", whole(&s.rate)},
		{"each", "number", "as there are", "how many programs of one client may run at the same time", whole(&s.each)},
		{"hosts", "names", "", "names under which clients reach the server, beside that of -addr", list(&s.serving.Hosts)},
		{"origins", "URLs", "", "web pages that may ask from a browser", list(&s.serving.Origins)},
		{"stateless", "", "", "keeps no sessions with clients of older protocols, so that any replica can answer",
			yes(&s.serving.Stateless)},
		{"grace", "duration", "5s", "how long running programs may go on at the end, before they are cancelled",
			duration(&s.serving.Grace)},
		{"check", "", "", "print what would be served, and exit", yes(&s.check)},
	}
}

// problems is everything that is wrong with the settings, and can be told without
// starting anything.
func (s *settings) problems(ctx context.Context) error {
	var errs []error
	if s.memory < 64 {
		errs = append(errs, fmt.Errorf("-memory %d: a program needs at least 64", s.memory))
	}
	if s.config != "" {
		_, err := mcptools.ReadConfig(s.config, nil)
		errs = append(errs, err)
	}
	if s.model != "" {
		_, err := s.open(s.model)
		errs = append(errs, err)
	}
	errs = append(errs, s.checkPackages())
	var err error
	if s.serving.Auth, err = s.authentication(); err != nil {
		return errors.Join(append(errs, err)...) // without it, more would seem wrong than is
	}
	return errors.Join(append(errs, s.serving.Check(ctx))...)
}

func (s *settings) checkPackages() error {
	var errs []error
	for _, name := range s.packages {
		if _, err := path.Match(name, ""); err != nil || strings.ContainsAny(name, " \t") {
			errs = append(errs, fmt.Errorf("-packages %s: no name of a package and no pattern of names", name))
		}
	}
	if !s.install {
		return errors.Join(errs...)
	}
	if len(s.packages) == 0 {
		errs = append(errs, errors.New("-allow-install: say by -packages which ones; they are code of strangers"))
	}
	if _, err := exec.LookPath("npm"); err != nil {
		errs = append(errs, fmt.Errorf("-allow-install: %w", err))
	}
	return errors.Join(errs...)
}

// sandbox is how programs are run.
func (s *settings) sandbox() *sandbox.Options {
	limits := s.limits
	limits.Memory = int64(s.memory) << 20
	return &sandbox.Options{Limits: limits, Rules: &s.rules, Workers: s.workers}
}

// npm is how packages are installed. It knows where npm fetches them in this
// process's network, and nothing else of its environment.
func (s *settings) npm() *npm.Options {
	return &npm.Options{Allow: s.packages, Env: []string{
		"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS",
		"npm_config_registry",
	}}
}

// transport is how clients connect.
func (s *settings) transport(log *slog.Logger, queue *serve.Queue) *serve.Options {
	o := s.serving
	o.Logger, o.Queue, o.Limits.Rate = log, queue, float64(s.rate)
	return &o
}
