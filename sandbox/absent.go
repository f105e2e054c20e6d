package sandbox

import "slices"

// What to use instead of what is there elsewhere.
const (
	noModules  = "there are no modules"
	noNetwork  = "there is no network"
	noBrowser  = "there is no browser; the program sees only its inputs and tools"
	noBytes    = "there are no encoders; use strings, encodeURIComponent or btoa"
	noWeak     = "use Map or Set; the program is over before memory matters"
	noRestrain = "nothing can be cancelled; let the call end, or do without it"
	javaScript = "the program must be JavaScript"
)

// outside says what a program wants from the world around it. It has its tools for that.
var outside = map[string]string{
	"require": noModules,
	"fs":      "there is no file system",
	"process": "there is no process",
	"fetch":   noNetwork, "XMLHttpRequest": noNetwork, "WebSocket": noNetwork, "axios": noNetwork,
}

// withTools adds to what a program cannot have the tools that it can use instead.
func (h *host) withTools(missing string) string {
	globals := h.globals()
	if globals == "" {
		return missing + ", and the program has no tools"
	}
	return missing + "; use the tools: " + globals
}

// globals names the namespaces and those tools that are in none.
func (h *host) globals() string {
	var names []string
	for _, b := range h.bindings {
		if b.Object != discoverer {
			names = append(names, or(b.Object, b.Names[0]))
		}
	}
	slices.Sort(names)
	return few(slices.Compact(names))
}

// absent says what to use instead of what other engines and languages have.
var absent = map[string]string{
	"module":  noModules + "; return the value, or end with it as an expression",
	"exports": noModules + "; return the value, or end with it as an expression",

	"global": "it is globalThis; the declared tools are globals",
	"window": noBrowser, "document": noBrowser, "navigator": noBrowser, "location": noBrowser, "self": noBrowser,
	"localStorage":   "nothing is stored; keep values in variables",
	"sessionStorage": "nothing is stored; keep values in variables",
	"alert":          "use console.log",
	"prompt":         "nobody can be asked; the program sees only its inputs and tools",
	"confirm":        "nobody can be asked; the program sees only its inputs and tools",

	"URL":         "take the text apart by split or a regular expression, and use URLSearchParams for the query",
	"TextEncoder": noBytes, "TextDecoder": noBytes,
	"Blob": noBytes, "FormData": noBytes,
	"Buffer":          "there are no buffers; use strings, btoa and atob, or Uint8Array",
	"AbortController": noRestrain, "AbortSignal": noRestrain,

	"setImmediate":         "use setTimeout(f, 0), or await sleep(0)",
	"clearImmediate":       "use clearTimeout",
	"performance":          "use Date.now()",
	"WeakRef":              noWeak,
	"FinalizationRegistry": noWeak,
	"Iterator":             "use an array, or a generator function",
	"Temporal":             "use Date",
	"Intl":                 "format numbers and dates by hand",

	"submit": "return the value, or end with it as an expression",
	"eval":   "code cannot be created from text",

	"print": javaScript + ": write console.log",
	"len":   javaScript + ": write list.length",
	"str":   javaScript + ": write String(value)",
	"range": javaScript + ": write for (let i = 0; i < n; i++)",
	"dict":  javaScript + ": write {}",
	"None":  javaScript + ": write null",
	"nil":   javaScript + ": write null",
	"True":  javaScript + ": write true",
	"False": javaScript + ": write false",
}
