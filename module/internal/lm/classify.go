package lm

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// classify converts an error to an [Error]. Most of langchaingo's providers return errors that have only a message.
func classify(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		if e == nil {
			return &Error{Kind: KindUnknown, MaybeCharged: true, Err: errSilent}
		}
		return err
	}
	err = withoutQuery(err)
	e := &Error{Err: err, Status: statusOf(err), RetryAfter: waitIn(err.Error())}
	e.Kind, e.MaybeCharged = kindOf(e.Status, err.Error()), gaveUp(e.Status)
	if e.Kind == KindUnknown {
		e.Kind, e.MaybeCharged = broken(err)
	}
	return e
}

// FromAnswer returns the error for an HTTP response with a status, the wait that its headers demand, and the provider's
// message and code.
func FromAnswer(status int, wait time.Duration, message, code string) *Error {
	text := message
	if code != "" {
		text = quoted.ReplaceAllString(message, "") + " " + code
	}
	if wait == 0 {
		wait = waitIn(text)
	}
	e := &Error{Kind: kindOf(status, text), Status: status, RetryAfter: wait, MaybeCharged: gaveUp(status)}
	if message = cmp.Or(message, code); message != "" {
		e.Err = errors.New(message)
	}
	return e
}

// quoted matches quotations in a message, which may come from the request.
var quoted = regexp.MustCompile("(?s)\\B(?:'.*?'|\".*?\"|`.*?`)\\B")

// FromConnection returns the error for a connection that broke before or during the response.
func FromConnection(err error) *Error {
	kind, charged := broken(err)
	if kind == KindUnknown {
		kind, charged = KindTransient, true
	}
	return &Error{Kind: kind, MaybeCharged: charged, Err: withoutQuery(err)}
}

// kindOf determines the kind from the message or, if no rule matches, from the status.
// Providers use 400 and 429 for many purposes.
func kindOf(status int, text string) Kind {
	text = strings.ToLower(text)
	for _, t := range rules {
		if slices.Contains(t.statuses, status) && t.text.MatchString(text) {
			return t.kind
		}
	}
	return kindOfStatus(status)
}

func kindOfStatus(status int) Kind {
	switch {
	case status == http.StatusTooManyRequests:
		return KindRateLimited
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return KindAuth
	case status == http.StatusRequestEntityTooLarge:
		return KindContextTooLong
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusFailedDependency, status >= 500: // Bedrock sends 424 if the model failed
		return KindTransient
	case status >= 400:
		return KindInvalid
	}
	return KindUnknown
}

// gaveUp reports whether a gateway sent the status without waiting for the provider, which may still be working.
func gaveUp(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout, 524: // Cloudflare's timeout
		return true
	}
	return false
}

// rule maps a message to an error kind.
type rule struct {
	kind     Kind
	text     *regexp.Regexp
	statuses []int // the statuses to which it applies
}

// rules are tried in order. The first group is more exact than the status. The second
// group is for errors without a useful status.
var rules = []rule{
	{KindContextTooLong, regexp.MustCompile(`context_length_exceeded|maximum context length|context length ` +
		`exceeded|prompt is too long|input is too long|exceeds? the (available |model'?s? )?context|exceeds the ` +
		`maximum number of tokens|too many (input )?tokens|token_limit|input length .*exceed|request_too_large`),
		[]int{0, 200, 400, 413, 422, 500}},
	// not rate limits, since a retry would never succeed
	{KindContextTooLong, regexp.MustCompile(`request too large for|tokens must be reduced`), []int{0, 429}},
	{KindRefused, regexp.MustCompile(`content[_ ](filter|policy|management)|blocked: ` +
		`(prompt|candidate)|content_policy_violation|guardrail_intervened|responsible ?ai ?policy`),
		[]int{0, 200, 400, 403, 422}},
	{KindRateLimited, regexp.MustCompile(`quota exceeded for|(try again|retry) in \d`), []int{0, 429}},
	{KindAuth, regexp.MustCompile(`insufficient_quota|exceeded your current quota|credit balance is too ` +
		`low|billing|insufficient (balance|credits)|payment required`), []int{0, 400, 402, 429}},
	{KindAuth, regexp.MustCompile(`api[ _]key not valid|invalid[ _]api[ _]key|incorrect api key|api_key_invalid`),
		[]int{0, 400, 401}},

	{KindRateLimited, regexp.MustCompile(`rate[ _]limit|too many requests|toomanyrequests|throttl|resource ` +
		`?_?exhausted|quota exceeded`), []int{0, 200}},
	{KindTransient, regexp.MustCompile(`overloaded|api_error|timeout_error|internal server ` +
		`error|internal_server_error|service ?unavailable|server_error|bad gateway|gateway timeout|code = ` +
		`(unavailable|internal|aborted)|model ?not ?ready|model is (currently )?loading|provider_unavailable|` +
		`internalserverexception|model(streamerror|timeout)exception`),
		[]int{0, 200}},
	{KindAuth, regexp.MustCompile(
		`authentication_error|permission_error|unauthenticated|unauthorized|permission_?denied|code = ` +
			`permissiondenied|access ?denied|invalid token|missing the .*key|: authentication:|quota_exceeded`),
		[]int{0, 200}},
	{KindInvalid, regexp.MustCompile(
		`invalid_request_error|validationexception|invalid_?argument|not_found_error|model.* not found|unsupported ` +
			`(human|content|message)|not supported|: invalid_request:|resource_not_found|not_implemented`),
		[]int{0, 200}},
}

// statuses matches the status in providers' messages.
var statuses = regexp.MustCompile(`(?i)(?:status(?: ?code)?:? |\bHTTP Error |googleapi: Error |^)(\d{3})\b`)

func statusOf(err error) int {
	if coded := (interface{ HTTPStatusCode() int })(nil); errors.As(err, &coded) {
		return coded.HTTPStatusCode()
	}
	m := statuses.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1])
	if status < 400 || status > 599 {
		return 0
	}
	return status
}

// broken recognizes connection errors, and reports whether the provider may have received the request and charge for
// it.
func broken(err error) (kind Kind, maybeCharged bool) {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns), errors.As(err, &op) && op.Op == "dial", errors.Is(err, syscall.ECONNREFUSED):
		return KindTransient, false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		connection.MatchString(err.Error()):
		return KindTransient, true
	}
	return KindUnknown, false
}

// connection matches messages about broken connections, for providers that keep only the message: openai's has "network
// error" and "request timeout".
var connection = regexp.MustCompile(`(?i)^network error: |^request timeout: |unexpected EOF|connection reset|broken ` +
	`pipe|server closed idle connection|i/o timeout|Client\.Timeout|http2: |^empty response$|: no response$|` +
	`^no response$`)

// waiting matches the wait in a rate limit message.
var waiting = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) (\d[\d.]*)(?:([\d.hmsµn]+)| ` +
	`?(second|minute|hour))?`)

func waitIn(text string) time.Duration {
	m := waiting.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	d, err := time.ParseDuration(strings.TrimRight(m[1]+cmp.Or(m[2], strings.ToLower(m[3])[:min(1, len(m[3]))]), "."))
	if err != nil || d < 0 {
		return 0
	}
	return d
}
