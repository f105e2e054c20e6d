package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/origin"
)

// call is a [tools.Handler].
func (o *operation) call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, o.api.o.Timeout)
	defer cancel()
	req, err := o.request(ctx, args)
	if err != nil {
		return nil, o.failed(tools.KindInvalidArguments, err.Error(), err)
	}
	if err := o.api.prepare(req); err != nil {
		return nil, o.failed(tools.KindUnavailable, "the host could not prepare the request", err)
	}
	unsent := false
	resp, err := origin.Follow(req, o.base, func(req *http.Request) (*http.Response, error) {
		resp, sent, err := origin.Send(o.api.o.Transport, req)
		unsent = err != nil && !sent
		return resp, err
	})
	if err != nil {
		return nil, o.unanswered(ctx, unsent, err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, int64(o.api.o.MaxResult)+1))
	if len(content) <= o.api.o.MaxResult { // otherwise, a part that ends in white space would count as complete
		content = bytes.TrimSpace(content)
	}
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, o.refused(resp, content)
	case err != nil:
		return nil, o.failed(tools.KindInvalidResult, "the call was made, but its response broke off", err)
	}
	return o.success(resp, content)
}

// prepare lets the host set credentials, and remembers them.
func (a *API) prepare(req *http.Request) error {
	defer func() { origin.PreventRetry(req.Header) }()
	if a.o.Prepare == nil {
		return nil
	}
	headers, query, to := req.Header.Clone(), req.URL.Query(), *req.URL
	if err := a.o.Prepare(req); err != nil {
		return err
	}
	if !origin.Same(req.URL, &to) {
		return errors.New("Options.Prepare changed the scheme or the host of the URL; set Options.BaseURL instead")
	}
	for _, change := range [][2]map[string][]string{{headers, req.Header}, {query, req.URL.Query()}} {
		for name, values := range change[1] {
			if !slices.Equal(values, change[0][name]) {
				a.secrets.AddHeaders(http.Header{name: values})
			}
		}
	}
	for _, c := range req.Cookies() {
		a.secrets.Add(c.Value)
	}
	_, password, _ := req.BasicAuth()
	a.secrets.Add(password)
	return nil
}

// cause is the cause of an error, for the host. Its text has no secrets.
type cause struct {
	text  string
	err   error
	after time.Duration
}

func (e *cause) Error() string { return e.text }
func (e *cause) Unwrap() error { return e.err }

// RetryAfter returns how long the API asks to wait. Package policy uses it.
func (e *cause) RetryAfter() time.Duration { return e.after }

// failed returns an error for a program, with a message that says what is known about the effect.
func (o *operation) failed(kind, message string, err error) *tools.ToolError {
	switch kind {
	case tools.KindUnavailable:
		message += "; the call was not made"
	case tools.KindUnknown, tools.KindTimeout, tools.KindCancelled:
		message += "; whether the call took effect is unknown"
	}
	hide := o.api.secrets.Hide
	c := &cause{text: fmt.Sprintf("%s %s: %s", o.method, o.path, hide(err.Error())), err: err}
	return (&tools.ToolError{Kind: kind, Message: hide(message)}).WithCause(c)
}

// unanswered returns the error for a request without a response.
func (o *operation) unanswered(ctx context.Context, unsent bool, err error) error {
	redirect, redirected := errors.AsType[*origin.RedirectError](err)
	switch {
	case redirected && redirect.Unprocessed:
		return o.failed(tools.KindUnavailable, err.Error(), err)
	case redirected:
		return o.failed(tools.KindUnknown, err.Error(), err)
	case unsent:
		return o.failed(tools.KindUnavailable, "the API cannot be reached", err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return o.failed(tools.KindTimeout, "no answer in time", err)
	case ctx.Err() != nil:
		return o.failed(tools.KindCancelled, "canceled", err)
	}
	return o.failed(tools.KindUnknown, "the connection to the API was lost", err)
}

// unprocessed are the statuses that by their definition mean that the request was not processed, such as 401
// Unauthorized, 405 Method Not Allowed and 429 Too Many Requests.
var unprocessed = []int{401, 405, 407, 411, 412, 413, 414, 415, 417, 421, 425, 426, 428, 429, 431}

// maxData is the maximum size in bytes of the data of an error.
const maxData = 64 << 10

// refused returns the error for a status that does not report success.
func (o *operation) refused(resp *http.Response, content []byte) error {
	kind, code := tools.KindFailed, resp.StatusCode
	switch {
	case slices.Contains(unprocessed, code):
		kind = tools.KindUnavailable
	case code == http.StatusBadGateway, code == http.StatusGatewayTimeout: // the API itself has not answered
		kind = tools.KindUnknown
	}
	message := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	html := strings.Contains(resp.Header.Get("Content-Type"), "html")
	if len(content) <= maxData && checkJSON(content) == nil {
		if doc, err := jsonvalue.Decode(content, resultLimits.Depth, true); err == nil {
			content = doc.Encode(doc.Value) // escapes would conceal secrets
		}
	}
	text := o.api.secrets.Hide(display.Cut(string(content), maxData)) // before it is cut within a secret
	if utf8.ValidString(text) && text != "" && !html {
		message += ": " + display.Cut(display.OneLine(text), 500)
	}
	te := o.failed(kind, message, errors.New(message))
	if checkJSON([]byte(text)) == nil { // a hidden number leaves no JSON
		te.Data = json.RawMessage(text)
	}
	if c, ok := errors.AsType[*cause](te.Unwrap()); ok {
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // a date counts as nothing
		c.after = time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	return te
}

// success converts the content of a successful response.
func (o *operation) success(resp *http.Response, content []byte) (json.RawMessage, error) {
	var text string
	kind, written := tools.KindInvalidResult, resp.Header.Get("Content-Type")
	switch err := checkJSON(content); {
	case len(content) == 0:
		return json.RawMessage("null"), nil
	case len(content) > o.api.o.MaxResult:
		kind, text = tools.KindTooLarge, fmt.Sprintf("has more than %d bytes; ask for less", o.api.o.MaxResult)
	case errors.Is(err, jsonscan.ErrValues), errors.Is(err, jsonscan.ErrDepth):
		kind, text = tools.KindTooLarge, fmt.Sprintf("has %v; ask for less", err)
	case err == nil && (o.result == kindJSON || o.result == kindOther && strings.Contains(written, "json")):
		return content, nil
	case o.result == kindJSON:
		text = fmt.Sprintf("is not JSON, as the document says, but %q", display.Cut(written, 100))
	case !utf8.Valid(content):
		text = fmt.Sprintf("is not text, but %q", display.Cut(written, 100))
	default:
		return json.RawMessage(jsonvalue.Text(string(content))), nil
	}
	err := errors.New("the call was made, but its response " + text)
	return nil, o.failed(kind, err.Error(), err)
}

// resultLimits are limits of a response in JSON. A value takes up to a hundred times as much memory as its text.
var resultLimits = jsonscan.Limits{Values: 1 << 20, Depth: 1000}

// checkJSON returns an error if the content is not JSON, or exceeds the limits.
func checkJSON(content []byte) error {
	if !json.Valid(content) {
		return errors.New("not JSON")
	}
	return jsonscan.Check(content, resultLimits)
}
