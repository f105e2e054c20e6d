package main

import (
	"context"

	"github.com/writ-go/writ/sandbox"
)

const typescript = "typescript"

// compiler returns the compiler for a program. It is nil for JavaScript without imports.
func (c *client) compiler(ctx context.Context, p program) (sandbox.Compiler, error) {
	if p.Environment == "" && p.Language != typescript {
		return nil, nil
	}
	bundler, err := c.app.bundler()
	if err != nil || p.Environment == "" {
		return bundler, err
	}
	e, err := c.environment(ctx, p.Environment, false)
	if err != nil {
		return nil, err
	}
	imports, err := e.packages.Importable()
	if err != nil {
		return nil, err
	}
	return bundler.PackagesOr(e.packages.FS(), imports, c.excuse(ctx, e)), nil
}
