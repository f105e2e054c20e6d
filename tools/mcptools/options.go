package mcptools

import (
	"cmp"
	"log/slog"
	"time"
)

// Options says how servers are run. The zero value of every field is its
// default, and nil Options are all defaults.
type Options struct {
	// ConnectTimeout bounds starting one server up to its answer to the
	// handshake, and again each listing of its tools. The "timeout" of its
	// configuration entry takes precedence. Zero is 60 seconds, since npx may
	// have to fetch a server first.
	ConnectTimeout time.Duration

	// Grace is how long Close waits for a server to end after closing its
	// stdin, and again after SIGTERM, before killing it. Zero is one second.
	Grace time.Duration

	// Env names variables of the host that servers inherit beside the few that
	// programs need to run at all: PATH, HOME, USER, LOGNAME, SHELL, LANG,
	// LC_ALL, TZ and TMPDIR, and on Windows what stands for them. A server
	// gets nothing else of the host's environment, which often holds secrets;
	// what one server needs belongs in the "env" of its entry.
	Env []string

	// Trust names the servers whose hints are believed: that a tool only reads,
	// may be repeated, or destroys. It decides what is done when a program that
	// failed is written again; a server that lies makes effects happen twice.
	// A file cannot say so; only the host can.
	Trust []string

	// MaxMessage is the largest message, in bytes, that is read from a server's
	// stdout. A larger answer fails its call and is not kept in memory. Zero is
	// 64 MiB.
	MaxMessage int

	// MaxResult is the largest result of one call, in bytes of JSON. Zero is
	// 4 MiB.
	MaxResult int

	// MaxTools is how many tools are taken from one server. Zero is 10,000.
	MaxTools int

	// MaxPages is how many pages of tools are read from one server. Zero is
	// 1,000.
	MaxPages int

	// Logger is told of servers that connect and fail, and of warnings. Nil
	// logs nothing. What a failed server wrote to stderr is logged; arguments,
	// results and variables are not.
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ConnectTimeout = cmp.Or(d.ConnectTimeout, 60*time.Second)
	d.Grace = cmp.Or(d.Grace, time.Second)
	d.MaxMessage = cmp.Or(d.MaxMessage, 64<<20)
	d.MaxResult = cmp.Or(d.MaxResult, 4<<20)
	d.MaxTools = cmp.Or(d.MaxTools, 10_000)
	d.MaxPages = cmp.Or(d.MaxPages, 1_000)
	d.Logger = cmp.Or(d.Logger, slog.New(slog.DiscardHandler))
	return d
}
