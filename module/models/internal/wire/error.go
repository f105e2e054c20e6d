package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/lm"
)

const (
	maxErrorBody = 64 << 10 // bytes that are read from an error's body
	maxMessage   = 1000     // bytes of a provider's message that are shown
)

// broken returns the error for a broken connection.
func (c *Client) broken(ctx context.Context, err error, format string) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	e := lm.FromConnection(unquoted(err))
	err = fmt.Errorf(format, e.Err)
	e.Err = lm.Reworded(err, string(c.withoutKey([]byte(err.Error()))))
	return e
}

func cancelled(ctx context.Context) error {
	e := lm.CancelledBy(ctx)
	e.MaybeCharged = true
	return e
}

// unquoted returns err without the URL that net/http adds.
func unquoted(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// refused returns the error for an HTTP response whose status is not 2xx.
func (c *Client) refused(r *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody))
	message, code := complaint(c.withoutKey(body))
	e := lm.FromAnswer(r.StatusCode, waitOf(r.Header), message, code)
	if e.Kind == lm.KindUnknown {
		e.Kind = lm.KindInvalid
	}
	e.Err = c.errorf("answered %s: %s; %s", statusText(r.StatusCode), cmp.Or(message, code, "no message"), c.advice(e))
	return e
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// advice returns what the caller can do about an error.
func (c *Client) advice(e *lm.Error) string {
	switch {
	case e.Status/100 == 3:
		return "it is a redirect; set the base URL to the address of the API"
	case e.Status == http.StatusPaymentRequired, e.Kind == lm.KindAuth && e.Status == http.StatusTooManyRequests:
		return "check the credit and the limits of the account"
	case e.Kind == lm.KindAuth && e.Status == http.StatusForbidden:
		return "check what the key in " + cmp.Or(c.Variable, "the options") + " may do"
	case e.Kind == lm.KindAuth:
		return "check the key in " + cmp.Or(c.Variable, "the options")
	case e.Status == http.StatusNotFound:
		return "check the model name and the base URL"
	case e.Kind == lm.KindRateLimited:
		return "retry later or less often"
	case e.Kind == lm.KindTransient:
		return "try again"
	case e.Kind == lm.KindContextTooLong:
		return "shorten the prompt or use a model with a larger context"
	case e.Kind == lm.KindRefused:
		return "change the prompt"
	}
	return "check the model and the options of the request"
}

// failureIn returns the error in a response or event of status 200, or nil.
func (c *Client) failureIn(data []byte) error {
	var answer struct{ Error json.RawMessage }
	if !bytes.Contains(data, []byte(`"error"`)) || json.Unmarshal(data, &answer) != nil || empty.Match(answer.Error) {
		return nil
	}
	message, code := complaint(c.withoutKey(data))
	var numbered struct{ Code int }
	_ = json.Unmarshal(answer.Error, &numbered) // some gateways put the status there
	if numbered.Code < 400 || numbered.Code > 599 {
		numbered.Code = 0
	}
	e := lm.FromAnswer(numbered.Code, 0, message, code)
	e.MaybeCharged = true
	e.Err = c.errorf("answered with an error: %s; %s", cmp.Or(message, code, "no message"), c.advice(e))
	return e
}

// Failure returns the error in a JSON object that has a member "error", or nil.
func (a *Answer) Failure(data []byte) error { return a.client.failureIn(data) }

// empty matches the error member of responses that are not errors.
var empty = regexp.MustCompile(`^(null|false|0|""|\{\s*\}|\[\s*\])?$`)

// notJSON returns the error for a response that cannot be decoded.
func (c *Client) notJSON(data []byte, err error) error {
	const shown = 200
	reason := display.Cut(string(c.withoutKey([]byte(err.Error()))), shown)
	return c.strange("a malformed reply (%s): %s", reason, display.Cut(string(c.withoutKey(data)), shown))
}

// strange returns the error for a response with status 2xx that is not a reply.
func (c *Client) strange(format string, args ...any) error {
	return &lm.Error{Kind: lm.KindTransient, MaybeCharged: true, Err: c.errorf("sent "+format, args...)}
}

// Strange returns the error for a response that is not a reply. The message continues "the provider sent".
func (a *Answer) Strange(format string, args ...any) error { return a.client.strange(format, args...) }

// Missing returns the error for a reply that lacks a part that its protocol requires.
func (a *Answer) Missing(what string) error {
	return a.client.strange("a reply without %s; try again", what)
}

// errorf returns an error that begins with the provider's name and does not contain its key.
func (c *Client) errorf(format string, args ...any) error {
	return errors.New(string(c.withoutKey(fmt.Appendf(nil, c.Provider+" "+format, args...))))
}

// withoutKey removes the key. Call it before truncating a string, which could leave part of the key.
func (c *Client) withoutKey(data []byte) []byte {
	if len(c.Key) < 4 { // so short a key is part of many words
		return data
	}
	return bytes.ReplaceAll(data, []byte(c.Key), []byte("[key]"))
}

// problem is the JSON of an error, such as {"error": {"message": …}}, {"error": "…"}, {"message": "…"} or
// {"detail": …}.
type problem struct {
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Type    string          `json:"type"`
	Status  any             `json:"status"`
	Code    any             `json:"code"`
}

// complaint finds the message and the codes in an error's body.
func complaint(body []byte) (message, code string) {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if !crowded(body, maxElements) && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0] // gemini sends a list with one error
	}
	if bytes.HasPrefix(body, []byte("<")) {
		return page(body), ""
	}
	var outer problem
	if json.Unmarshal(body, &outer) != nil {
		return display.Cut(string(body), maxMessage), ""
	}
	inner := outer
	_ = json.Unmarshal(outer.Error, &inner)
	message = cmp.Or(text(inner.Message), text(outer.Error), text(outer.Message), text(outer.Detail))
	var codes []string
	for _, c := range []any{inner.Type, inner.Status, inner.Code} {
		if s, ok := c.(string); ok && s != "" {
			codes = append(codes, s)
		}
	}
	return display.Cut(message, maxMessage), strings.Join(codes, " ")
}

// text returns a message that is a string or, from some servers, other JSON.
func text(raw json.RawMessage) string {
	if s := ""; json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var title = regexp.MustCompile(`(?is)<title[^>]*>\s*(.*?)\s*</title>`)

// page describes an HTML page, which a proxy sent instead of the provider.
func page(body []byte) string {
	if m := title.FindSubmatch(body); m != nil {
		return fmt.Sprintf("an HTML page with the title %q", display.Cut(html.UnescapeString(string(m[1])), 200))
	}
	return "an HTML page"
}

// waitOf returns the wait that the headers demand, or 0.
func waitOf(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return lm.Seconds(ms / 1000)
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		return lm.Seconds(s)
	}
	if at, err := http.ParseTime(after); err == nil {
		return lm.Seconds(time.Until(at).Seconds())
	}
	return 0
}
