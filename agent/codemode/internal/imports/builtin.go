package imports

import (
	"slices"
	"strings"
)

// builtins are the modules of Node.js.
var builtins = strings.Fields(`assert async_hooks buffer child_process cluster console constants crypto dgram
	diagnostics_channel dns domain events fs http http2 https inspector module net os path perf_hooks process punycode
	querystring readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads
	zlib`)

// builtin reports whether a module is part of Node.js.
func builtin(module string) bool {
	name, prefixed := strings.CutPrefix(module, "node:")
	name, _, _ = strings.Cut(name, "/")
	return prefixed || slices.Contains(builtins, name)
}
