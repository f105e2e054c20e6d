package models

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The bounds of what is kept of an answer that is an error.
const (
	maxErrorBody    = 64 << 10
	maxErrorMessage = 1000
)

// peek reads the provider's message, and leaves the body for the provider, without
// the keys that the request had. It does not wait for the end of a body that has
// said all.
func peek(answer *http.Response, keys []string) (message, code string) {
	var read bytes.Buffer
	body := io.TeeReader(io.LimitReader(answer.Body, maxErrorBody), &read)
	var value json.RawMessage
	if json.NewDecoder(body).Decode(&value) != nil || !strings.ContainsAny(string(value[:1]), "{[") {
		_, _ = io.Copy(io.Discard, body) // it is a text, and whole at its end
		value = nil
	}
	head := withoutKeys(read.Bytes(), keys)
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), answer.Body), answer.Body}
	if value != nil {
		return complaint(withoutKeys(value, keys))
	}
	return complaint(head)
}

// keysOf returns the keys that a request is authorised by.
func keysOf(h http.Header) (keys []string) {
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		fields := strings.Fields(h.Get(name))
		if len(fields) > 0 && len(fields[len(fields)-1]) >= 8 { // a shorter one is none
			keys = append(keys, fields[len(fields)-1])
		}
	}
	return keys
}

// withoutKeys takes out of an error the key that it complains of.
func withoutKeys(text []byte, keys []string) []byte {
	for _, key := range keys {
		text = bytes.ReplaceAll(text, []byte(key), []byte("[key]"))
	}
	return text
}

// problem is an error as providers write it: {"error": {"message": …}},
// {"error": "…"} or {"message": "…"}.
type problem struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Status  string          `json:"status"`
	Code    any             `json:"code"`
}

// complaint finds the message and the codes in the body of an error.
func complaint(body []byte) (message, code string) {
	body = bytes.TrimSpace(body)
	if list := []json.RawMessage(nil); json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var p problem
	if json.Unmarshal(body, &p) != nil {
		if bytes.HasPrefix(body, []byte("<")) { // a proxy's page says nothing
			return "", ""
		}
		return clip(string(body)), ""
	}
	if text := ""; json.Unmarshal(p.Error, &text) == nil {
		return clip(cmp.Or(text, p.Message)), p.codes()
	}
	if inner := (problem{}); json.Unmarshal(p.Error, &inner) == nil {
		return clip(cmp.Or(inner.Message, p.Message)), inner.codes()
	}
	return clip(p.Message), p.codes()
}

func (p problem) codes() string {
	code, _ := p.Code.(string)
	return strings.Join(strings.Fields(p.Type+" "+p.Status+" "+code), " ")
}

func clip(s string) string {
	if len(s) > maxErrorMessage {
		return strings.ToValidUTF8(s[:maxErrorMessage], "") + "…"
	}
	return s
}

// waitOf is how long the headers ask to wait, 0 if they do not say.
func waitOf(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return span(ms, time.Millisecond)
	}
	if after := h.Get("Retry-After"); after != "" {
		if s, err := strconv.ParseFloat(after, 64); err == nil {
			return span(s, time.Second)
		}
		if at, err := http.ParseTime(after); err == nil {
			return span(time.Until(at).Seconds(), time.Second)
		}
	}
	return resetOf(h)
}

// resetOf is when the limit that is used up starts anew: openai's headers say in
// how long, anthropic's when.
func resetOf(h http.Header) (wait time.Duration) {
	for _, of := range []string{"Requests", "Tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+of) == "0" {
			if d, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + of)); err == nil {
				wait = max(wait, d)
			}
		}
	}
	for _, of := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		if h.Get("Anthropic-Ratelimit-"+of+"-Remaining") == "0" {
			if at, err := time.Parse(time.RFC3339, h.Get("Anthropic-Ratelimit-"+of+"-Reset")); err == nil {
				wait = max(wait, time.Until(at))
			}
		}
	}
	return wait
}

// span is n units, without an overflow.
func span(n float64, unit time.Duration) time.Duration {
	const most = 365 * 24 * time.Hour
	if !(n > 0) {
		return 0
	}
	if n > float64(most/unit) {
		return most
	}
	return time.Duration(n * float64(unit))
}
