package effect

import (
	"context"
	"net/url"
)

// Request describes a request of a call to an MCP server. Unknown fields have zero values.
type Request struct {
	Server, Tool string   // the tool's namespace and name
	ID           string   // of JSON-RPC
	Code         int64    // of the JSON-RPC error that the server returned
	Protocol     string   // the version of MCP
	Pipe         bool     // the server is a process, on stdio
	URL          *url.URL // of a server over HTTP; its path and query may contain secrets
}

type reportKey struct{}

// WithReport returns the context of a call. Report receives each request that the call has made to an MCP server, so
// that tools/mcptools need not know how requests are traced.
func WithReport(ctx context.Context, report func(Request)) context.Context {
	return context.WithValue(ctx, reportKey{}, report)
}

// ReportOf returns the function that receives the requests of a call, or nil.
func ReportOf(ctx context.Context) func(Request) {
	report, _ := ctx.Value(reportKey{}).(func(Request))
	return report
}
