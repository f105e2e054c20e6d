package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/origin"
)

// Suffixes of messages for programs.
const (
	notMade        = "; the call was not made"
	effectUnknown  = "; whether the call took effect is unknown"
	connectionLost = "the connection to the tool's server was lost" + effectUnknown
)

// checkURL is a suffix of messages for the host.
const checkURL = "; check that the URL points to an MCP server"

// Error reports that one HTTP request failed. Its text contains no header, and no part of the URL that may be secret.
type Error struct {
	unknown        bool   // the request may have taken effect
	otherTransport bool   // the server may speak a different transport
	message        string // for the program
	detail         string // for the host
	err            error
	secrets        *origin.Secrets
}

// Error returns the message for the host.
func (e *Error) Error() string {
	if e.err == nil {
		return e.secrets.Hide(e.detail)
	}
	return e.secrets.Hide(e.detail + ": " + e.err.Error())
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// ToolError returns the error for the program.
func (e *Error) ToolError() *tools.ToolError {
	if e.unknown {
		return &tools.ToolError{Kind: tools.KindUnknown, Message: e.message}
	}
	return &tools.ToolError{Kind: tools.KindUnavailable, Message: e.message}
}

// Unavailable returns the message for a program whose call was not made, because an earlier request failed.
func (e *Error) Unavailable() string {
	what, _, _ := strings.Cut(e.message, "; ")
	return what + notMade
}

// IsOtherTransport reports whether the server may speak a different transport.
func IsOtherTransport(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.otherTransport
}

// StatusError returns the error for an HTTP status. It leaves out the body, which may repeat
// what was sent.
func StatusError(resp *http.Response) *Error {
	code := resp.StatusCode
	status := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	e := &Error{detail: "it returned " + status}
	switch {
	case code == http.StatusUnauthorized:
		e.message = "the tool's server refused the credentials" + notMade
		e.detail += `; set or correct its credentials in "headers" of its entry, Options.HeaderFunc or Options.OAuth`
	case code == http.StatusForbidden:
		e.message = "the tool's server denied access" + notMade
		e.detail += "; use other credentials, or ask for more rights"
	case code == http.StatusTooManyRequests:
		e.message = "the tool's server received too many requests" + notMade
		e.detail += retryAfter(resp)
	case code >= 500:
		e.unknown = true
		e.message = fmt.Sprintf("the tool's server failed (%s)", status) + effectUnknown
		e.detail += retryAfter(resp)
	case slices.Contains(refusals, code):
		e.message = fmt.Sprintf("the tool's server refused the request (%s)", status) + notMade
		e.detail += checkURL
	default:
		e.unknown = true
		e.message = fmt.Sprintf("the tool's server did not accept the request (%s)", status) + effectUnknown
		e.detail += checkURL
	}
	switch code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		e.otherTransport = true
	}
	return e
}

// refusals are the statuses of requests that are rejected before anything is done, because of their address, method,
// headers or size. Servers use other statuses, such as 400, 408, 409 and 422, also for problems that they find after
// they have started the work.
var refusals = []int{
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
	http.StatusProxyAuthRequired, http.StatusGone, http.StatusLengthRequired,
	http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
	http.StatusUnsupportedMediaType, http.StatusExpectationFailed,
	http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusUpgradeRequired,
	http.StatusRequestHeaderFieldsTooLarge, http.StatusUnavailableForLegalReasons,
}

func retryAfter(resp *http.Response) string {
	after := resp.Header.Get("Retry-After")
	if after == "" || len(after) > 40 {
		return "; try again later"
	}
	return fmt.Sprintf("; try again after %q", after)
}
