package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/mcptools"
)

// settings is what the flags and the environment say.
type settings struct {
	config       string
	trust        []string
	declarations int
	storage      string
	transport    string
	limits       sandbox.Limits
	memory       int // MiB
	workers      int
	rules        sandbox.Rules
	model        string
	task         taskLimits
	check        bool

	open func(name string) (llms.Model, error) // another one in tests
}

func newSettings(stderr io.Writer) *settings {
	return &settings{
		transport: "stdio",
		limits:    sandbox.Limits{Time: 30 * time.Second, Calls: 100, Source: 1 << 20},
		memory:    256,
		task:      taskLimits{steps: 10, time: 10 * time.Minute},
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
		{"declarations", "tokens", "8000", "how much of execute_code's description may declare tools; the rest is found by search_tools", whole(&s.declarations)},
		{"transport", "kind", "stdio", "how clients connect: stdio", text(&s.transport)},
		{"storage", "folder", "", "where code files, sessions and environments are kept; several servers may share it. Without it they go with the server", text(&s.storage)},
		{"time", "duration", "30s", "how long a program may take", duration(&s.limits.Time)},
		{"memory", "MiB", "256", "how much memory a program may use", whole(&s.memory)},
		{"calls", "number", "100", "how many tool calls a program may make", whole(&s.limits.Calls)},
		{"workers", "number", "2 per processor", "how many programs run at the same time", whole(&s.workers)},
		{"max-lines", "number", "", "how many lines a program may have", whole(&s.rules.Lines)},
		{"max-characters", "number", "", "how many characters a program may have", whole(&s.rules.Characters)},
		{"forbid", "names", "", "names that no program may use", list(&s.rules.Names)},
		{"model", "provider:model", "", "offers run_task, done by openai:… (OPENAI_API_KEY), anthropic:… (ANTHROPIC_API_KEY) or ollama:…", text(&s.model)},
		{"task-steps", "number", "10", "how many programs the model may write for a task", whole(&s.task.steps)},
		{"task-tokens", "number", "no limit", "how many tokens the model may read and write for a task", whole(&s.task.tokens)},
		{"task-time", "duration", "10m", "how long a task may take", duration(&s.task.time)},
		{"check", "", "", "print what would be served, and exit", yes(&s.check)},
	}
}

// problems is everything that is wrong with the settings, and can be told without
// starting anything.
func (s *settings) problems() error {
	var errs []error
	if s.transport != "stdio" {
		errs = append(errs, fmt.Errorf("-transport %s: the only transport is stdio", s.transport))
	}
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
	return errors.Join(errs...)
}

// sandbox is how programs are run.
func (s *settings) sandbox() *sandbox.Options {
	limits := s.limits
	limits.Memory = int64(s.memory) << 20
	return &sandbox.Options{Limits: limits, Rules: &s.rules, Workers: s.workers}
}
