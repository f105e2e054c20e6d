package mcptools

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
)

// webError is the failure of one HTTP request. It holds no header, and of the
// URL nothing that could be a secret.
type webError struct {
	unknown   bool   // whether the request took effect is not known; else it did not
	elsewhere bool   // another transport may be what is served there
	message   string // for the program
	detail    string // for the host
	err       error
	secrets   *secrets // that are not told
}

// Error returns what the host should know.
func (e *webError) Error() string {
	if e.err == nil {
		return e.secrets.hide(e.detail)
	}
	return e.secrets.hide(e.detail + ": " + e.err.Error())
}

func (e *webError) Unwrap() error { return e.err }

// toolError is how a program sees the failure.
func (e *webError) toolError() *tools.ToolError {
	if e.unknown {
		return &tools.ToolError{Kind: tools.KindUnknown, Message: e.message}
	}
	return &tools.ToolError{Kind: tools.KindUnavailable, Message: e.message}
}

// statusError words an HTTP status. What the server wrote beside it is left
// out: it is seldom meant for us, and may repeat what was sent.
func statusError(resp *http.Response) *webError {
	code := resp.StatusCode
	e := &webError{detail: fmt.Sprintf("it answers %d %s", code, http.StatusText(code))}
	switch {
	case code == http.StatusUnauthorized:
		e.message = "the tool's server refused the credentials; nothing was done"
		e.detail += `: it wants credentials, or others; give "headers" in its entry, Options.HeaderFunc or Options.OAuth`
	case code == http.StatusForbidden:
		e.message = "the tool's server denied access; nothing was done"
		e.detail += ": the credentials are not enough; give others, or ask for more rights"
	case code == http.StatusTooManyRequests:
		e.message = "the tool's server was asked too often and refused; nothing was done"
		e.detail += waitFor(resp)
	case code >= 500:
		e.unknown = true
		e.message = fmt.Sprintf("the tool's server failed (%d %s); whether it took effect is unknown", code, http.StatusText(code))
		e.detail += waitFor(resp)
	case slices.Contains(refusals, code):
		e.message = fmt.Sprintf("the tool's server refused the request (%d %s); nothing was done", code, http.StatusText(code))
		e.detail += "; see that the URL is that of an MCP server"
	default:
		e.unknown = true
		e.message = strings.TrimSpace(fmt.Sprintf("the tool's server did not accept the request (%d %s", code, http.StatusText(code))) + "); whether it took effect is unknown"
		e.detail += "; see that the URL is that of an MCP server"
	}
	e.elsewhere = code == http.StatusBadRequest || code == http.StatusNotFound || code == http.StatusMethodNotAllowed
	return e
}

// refusals are the statuses, beside those of credentials and of too many
// requests, by which a request is turned away before anything is done: for its
// address, its method, its headers or its size. Others, such as 400, 408, 409
// and 422, servers also use for what they find out on the way.
var refusals = []int{
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
	http.StatusProxyAuthRequired, http.StatusGone, http.StatusLengthRequired,
	http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
	http.StatusUnsupportedMediaType, http.StatusExpectationFailed,
	http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusUpgradeRequired,
	http.StatusRequestHeaderFieldsTooLarge, http.StatusUnavailableForLegalReasons,
}

func waitFor(resp *http.Response) string {
	after := resp.Header.Get("Retry-After")
	if after == "" || len(after) > 40 {
		return "; try again later"
	}
	return fmt.Sprintf("; try again after %q", after)
}

// isElsewhere reports whether another transport may be what is served at a URL.
func isElsewhere(err error) bool {
	web, ok := errors.AsType[*webError](err)
	return ok && web.elsewhere
}
