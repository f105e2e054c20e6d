package esbuild

import (
	"context"
	"io/fs"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// packages compiles programs that import some packages.
type packages struct {
	bundler *Bundler
	root    fs.FS // nil for no packages
	allow   []string
}

func newPackages(b *Bundler, root fs.FS, allow []string) *packages {
	return &packages{bundler: b, root: root, allow: allow}
}

// Compile implements [sandbox.Compiler].
func (p *packages) Compile(ctx context.Context, source string) (*sandbox.Compiled, error) {
	var t transformed
	findings, err := p.bundler.run(ctx, task{Program: source}, noFiles{}, &t)
	if err != nil || findings != nil {
		return &sandbox.Compiled{Findings: findings}, err
	}
	if len(t.Faults) > 0 {
		return &sandbox.Compiled{Findings: findingsOf(t.Faults)}, nil
	}
	return &sandbox.Compiled{Source: t.Source, Map: []byte(t.Map)}, nil
}

func findingsOf(faults []fault) []sandbox.Finding {
	var list []sandbox.Finding
	for _, f := range faults {
		list = append(list, sandbox.Finding{Kind: sandbox.Syntax, Message: f.Message, Hint: f.Hint, Line: f.Line, Column: f.Column})
	}
	return list
}

// noFiles is a host without files.
type noFiles struct{}

// Report implements [engine.Host].
func (noFiles) Report(engine.Report) func() bool { return func() bool { return true } }

// Call implements [engine.Host].
func (noFiles) Call(_ engine.Call, reply func(engine.Reply)) func() {
	return func() { reply(engine.Reply{Error: &engine.ToolError{Message: "there are no files"}}) }
}
