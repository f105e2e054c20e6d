package sandbox

// What to use instead of what is there elsewhere.
const (
	noModules  = "there are no modules; the declared tools are globals"
	noNetwork  = "there is no network; use the declared tools"
	noBrowser  = "there is no browser; the program sees only its inputs and tools"
	noBytes    = "there are no encoders; use strings, encodeURIComponent or Uint8Array"
	noWeak     = "use Map or Set; the program is over before memory matters"
	noRestrain = "nothing can be cancelled; let the call end, or do without it"
	javaScript = "the program must be JavaScript"
)

// absent says what to use instead of what other engines and languages have.
var absent = map[string]string{
	"require": noModules,
	"module":  noModules + "; return the value, or end with it as an expression",
	"exports": noModules + "; return the value, or end with it as an expression",

	"process": "there is no process; the program sees only its inputs and tools",
	"global":  "it is globalThis; the declared tools are globals",
	"fetch":   noNetwork, "XMLHttpRequest": noNetwork, "WebSocket": noNetwork, "axios": noNetwork,
	"window": noBrowser, "document": noBrowser, "navigator": noBrowser, "location": noBrowser, "self": noBrowser,
	"localStorage":   "nothing is stored; keep values in variables",
	"sessionStorage": "nothing is stored; keep values in variables",
	"alert":          "use console.log",
	"prompt":         "nobody can be asked; the program sees only its inputs and tools",
	"confirm":        "nobody can be asked; the program sees only its inputs and tools",

	"URL":             "take the text apart by split or a regular expression, and write encodeURIComponent(part)",
	"URLSearchParams": "write names and values joined by & and =, each with encodeURIComponent",
	"btoa":            noBytes, "atob": noBytes, "TextEncoder": noBytes, "TextDecoder": noBytes,
	"Blob": noBytes, "FormData": noBytes,
	"Buffer":          "there are no buffers; use strings or Uint8Array",
	"AbortController": noRestrain, "AbortSignal": noRestrain,

	"structuredClone":      "use JSON.parse(JSON.stringify(value))",
	"queueMicrotask":       "use Promise.resolve().then(f)",
	"setImmediate":         "use setTimeout(f, 0), or await sleep(0)",
	"clearImmediate":       "use clearTimeout",
	"performance":          "use Date.now()",
	"WeakRef":              noWeak,
	"FinalizationRegistry": noWeak,
	"Iterator":             "use an array, or a generator function",
	"Temporal":             "use Date",
	"Intl":                 "format numbers and dates by hand",

	"submit": "return the value, or end with it as an expression",
	"eval":   "code cannot be made from text here",

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
