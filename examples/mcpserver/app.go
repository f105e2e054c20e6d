package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/workspace"
	"github.com/writ-go/writ/tools/mcptools"
)

const version = "0.1.0"

// app is what all clients share.
type app struct {
	settings *settings
	log      *slog.Logger
	hidden   hidden
	catalog  *catalog
	box      *sandbox.Sandbox
	store    *workspace.Store
	passing  string     // the folder of the store, if it goes with the server; or ""
	model    llms.Model // nil: there is no run_task
	clients  clients
}

// open starts everything that the settings want. What it has opened before an error
// is closed again.
func open(ctx context.Context, s *settings, log io.Writer) (a *app, err error) {
	a = &app{settings: s}
	a.log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: a.hidden.attr}))
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if s.model != "" {
		if a.model, err = s.open(s.model); err != nil {
			return nil, err
		}
	}
	if a.box, err = sandbox.New(s.sandbox()); err != nil {
		return nil, err
	}
	if err = a.openStore(); err != nil {
		return nil, err
	}
	a.catalog, err = openCatalog(ctx, s.config, &a.hidden, mcptools.Options{Trust: s.trust, Logger: a.log})
	return a, err
}

func (a *app) openStore() (err error) {
	dir := a.settings.storage
	if dir == "" {
		if a.passing, err = os.MkdirTemp("", "writ-"); err != nil {
			return err
		}
		dir = a.passing
	}
	a.store, err = workspace.Open(dir, nil)
	return err
}

// sweep removes what nobody has used for long, once a day.
func (a *app) sweep(ctx context.Context) {
	for {
		if _, err := a.store.Sweep(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("sweeping the storage", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(24 * time.Hour):
		}
	}
}

func (a *app) close() {
	if a.box != nil {
		a.box.Close()
	}
	if a.catalog != nil {
		a.catalog.close()
	}
	if a.store != nil {
		a.store.Close()
	}
	if a.passing != "" {
		os.RemoveAll(a.passing)
	}
}

// local is the client on stdio.
var local = principal{Name: "local"}

// serve answers clients until ctx is done or, on stdio, the client has gone.
func (a *app) serve(ctx context.Context, transport mcp.Transport, hup <-chan os.Signal) error {
	ctx, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer func() { stop(); beside.Wait() }()
	beside.Go(func() { a.catalog.watch(ctx, hup, a.updateClients) })
	beside.Go(func() { a.sweep(ctx) })
	err := a.client(local).server.Run(ctx, transport)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
