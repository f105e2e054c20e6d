package effect

import (
	"context"
	"net/url"
)

// Request describes a call's request to an MCP server. Unknown fields have zero values.
type Request struct {
	Server, Tool string   // the tool's namespace and name
	Protocol     string   // the version of MCP
	ID           string   // of JSON-RPC
	Code         string   // of the JSON-RPC error that the server returned
	Pipe         bool     // the server is a process, on stdio
	URL          *url.URL // of a server over HTTP; its path and query may contain secrets
}

type reportKey struct{}

// WithReport returns the context of a call. Report receives the requests that the call has made to MCP servers.
func WithReport(ctx context.Context, report func(Request)) context.Context {
	return context.WithValue(ctx, reportKey{}, report)
}

// ReportOf returns the function that receives the requests of a call, or nil.
func ReportOf(ctx context.Context) func(Request) {
	report, _ := ctx.Value(reportKey{}).(func(Request))
	return report
}
