package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// TestAssembly assembles streams of servers that differ from OpenAI's.
func TestAssembly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		deltas []string
		want   string
		told   string
	}{
		{"mistral: chunks, then text", []string{
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"So "}]}]}`,
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"so."}]}]}`,
			`{"content":"It "}`, `{"content":"is."}`},
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"So so."}]},` +
				`{"type":"text","text":"It is."}]}`,
			"(So )|(so.)|It |is."},
		{"text, then chunks", []string{`{"content":"a"}`, `{"content":[{"type":"text","text":"b"},` +
			`{"type":"reference","reference_ids":[1,2]}]}`},
			`{"role":"assistant","content":[{"type":"text","text":"ab"},{"type":"reference","reference_ids":[1,2]}]}`,
			"a|b"},
		{"gemini: whole calls without an index", []string{
			`{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},` +
				`"extra_content":{"google":{"thought_signature":"x"}}}]}`,
			`{"tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
			`{"role":"assistant","content":null,"tool_calls":[
			{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},
			 "extra_content":{"google":{"thought_signature":"x"}}},
			{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`, ""},
		{"the same index for different calls", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}]}`},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},
			{"id":"b","function":{"name":"f","arguments":"{}"}}]}`, ""},
		{"repeated fields", []string{
			`{"role":"assistant","content":"a","tool_calls":[{"index":1,"id":"a","type":"function",` +
				`"function":{"name":"f","arguments":"{"}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"index":1,"id":"a","type":"function",` +
				`"function":{"name":"f","arguments":"}"}}]}`,
			`{"role":"","content":"b","tool_calls":[{"index":1,"id":"","function":{"name":""}}]}`},
			`{"role":"assistant","content":"ab","tool_calls":[{"id":"a","type":"function","function":{"name":"f",` +
				`"arguments":"{}"}}]}`, "a|b"},
		{"openrouter: details of the reasoning", []string{
			`{"reasoning":"So ","reasoning_details":[{"type":"reasoning.text","text":"So ","format":"v1","index":0}]}`,
			`{"reasoning":"so.","reasoning_details":[{"type":"reasoning.text","text":"so.","signature":"s","format":"v1",
			"index":0},{"type":"reasoning.encrypted","data":"x","format":"v1","index":1}]}`, `{"content":"Yes."}`},
			`{"role":"assistant","content":"Yes.","reasoning":"So so.","reasoning_details":[
			{"type":"reasoning.text","text":"So so.","signature":"s","format":"v1","index":0},
			{"type":"reasoning.encrypted","data":"x","format":"v1","index":1}]}`, "(So )|(so.)|Yes."},
		{"large numbers", []string{`{"x":{"n":12345678901234567890}}`, `{"x":{"b":true}}`, `{"x":null}`},
			`{"role":"assistant","content":null,"x":{"n":12345678901234567890,"b":true}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var body strings.Builder
			for _, delta := range test.deltas {
				delta = strings.ReplaceAll(delta, "\n", "")
				body.WriteString(`data: {"id":"x","choices":[{"index":0,"delta":` + delta +
					`,"finish_reason":null}]}` + "\n\n")
			}
			body.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n") // no [DONE]
			var told []string
			m := serve(t, nil, stub.OpenAI(nil, stub.Reply{Status: 200, Body: body.String()}))
			got := reply(t, m, question, streamed(&told)...)
			raw := got.GenerationInfo[lm.MessageKey].(*lm.Message).Raw
			same(t, "raw message", decoded(t, string(raw)), decoded(t, test.want))
			same(t, "streamed", strings.Join(told, "|"), test.told)
			if test.name == "large numbers" && !strings.Contains(string(raw), "12345678901234567890") {
				t.Errorf("the number changed: %s", raw)
			}
		})
	}
}

// TestAssemblyCounts counts what is kept of a stream, under any name, and not what replaces it.
func TestAssemblyCounts(t *testing.T) {
	t.Parallel()
	text := `"` + strings.Repeat("x", 1000) + `"`
	for delta, grows := range map[string]bool{
		`{"content":` + text + `}`: true, `{"x":[` + text + `]}`: true, `{"x":[[` + text + `]]}`: true,
		`{"tool_calls":[{"index":0,"function":{"arguments":` + text + `}}]}`: true,
		`{"x":` + text + `}`: false, `{"x":{"y":` + text + `}}`: false, `{"x":null}`: false,
	} {
		var parts assembly
		for range 100 {
			if err := parts.add(0, json.RawMessage(delta)); err != nil {
				t.Fatal(err)
			}
		}
		if grown := parts.size > 100_000; grown != grows {
			t.Errorf("%.40s: %d bytes", delta, parts.size)
		}
	}
	var parts assembly
	var err error
	for i := 0; i <= maxItems && err == nil; i++ {
		err = parts.add(0, json.RawMessage(fmt.Sprintf(`{"tool_calls":[{"index":%d}]}`, i)))
	}
	same(t, "error", fmt.Sprint(err), "a list has more than 1000 items, or comes in too many pieces")
}

// TestArguments reads the arguments of tool calls in the forms that servers use.
func TestArguments(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"{\"a\":1}"`: `{"a":1}`, `{"a":1}`: `{"a":1}`, `""`: "{}", `" "`: "{}", `null`: "{}", ``: "{}",
		`"{\"a"`: `{"a`,
	} {
		same(t, raw, arguments(json.RawMessage(raw)), want)
	}
}

// TestChoices streams several choices at once. Only the first is passed on.
func TestChoices(t *testing.T) {
	t.Parallel()
	body := `data: {"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"}}]}` + "\n\n" +
		`data: {"choices":[{"index":1,"delta":{"content":"y"},"finish_reason":"stop"},{"index":0,"delta":{},` +
		`"finish_reason":"length"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_cache_hit_tokens":1}}` +
		"\n\ndata: [DONE]\n\n"
	m := serve(t, nil, stub.OpenAI(nil, stub.Reply{Status: 200, Body: body}))
	var told []string
	response, err := m.GenerateContent(t.Context(), question, append(streamed(&told), llms.WithN(2))...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range response.Choices {
		got = append(got, c.Content, c.StopReason)
	}
	same(t, "choices", got, []string{"a", "length", "xy", "stop"})
	same(t, "streamed", told, []string{"a"})
	same(t, "usage", lm.UsageOf(response), lm.Usage{Input: 1, Output: 2, CachedInput: 1})
}

// FuzzStream checks that any stream results in an error or in a valid message.
func FuzzStream(f *testing.F) {
	f.Add(`{"content":"a"}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`)
	f.Add(`{"content":[{"type":"text","text":"a"}]}`, `{"content":"b","role":null}`)
	f.Add(`{"tool_calls":{"a":[1]}}`, `{"tool_calls":[[],{"index":{}}],"content":{}}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var parts assembly
		for _, delta := range []string{first, second} {
			if parts.add(0, json.RawMessage(delta)) != nil {
				return
			}
		}
		raw := parts.message(0)
		if !json.Valid(raw) {
			t.Fatalf("message %s", raw)
		}
		var m message
		_ = json.Unmarshal(raw, &m)
	})
}

// FuzzReply checks that every response results in a reply or an *Error.
func FuzzReply(f *testing.F) {
	f.Add(`{"choices":[{"message":{"content":"a","tool_calls":[{"id":"a","function":{"arguments":{}}}]}}],` +
		`"usage":{"total_tokens":1}}`)
	f.Add(`{"choices":[{"message":{"content":[{"text":"a"},{"thinking":[{"text":"b"}]}]}},{}]}`)
	f.Add(`{"error":{"message":[1],"code":"x"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		m, err := New("m", &wire.Options{Dialect: "openai", Key: "k", Client: &http.Client{Transport: canned(body)}})
		if err != nil {
			t.Fatal(err)
		}
		response, err := m.GenerateContent(t.Context(), question)
		if _, ok := errors.AsType[*lm.Error](err); err != nil && !ok {
			t.Fatalf("error %v is not an *Error", err)
		}
		if err == nil && len(response.Choices) == 0 {
			t.Fatal("neither a choice nor an error")
		}
	})
}

// canned answers every request with this text.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

// BenchmarkStream reads a stream of 10,000 chunks.
func BenchmarkStream(b *testing.B) {
	piece := json.RawMessage(`{"content":" word","tool_calls":[{"index":3,"function":{"arguments":" word"}}]}`)
	for b.Loop() {
		var parts assembly
		for range 10_000 {
			if err := parts.add(0, piece); err != nil {
				b.Fatal(err)
			}
		}
		parts.message(0)
	}
}

// Lists of items that are no objects are bounded, and values that cannot be compared are not.
func TestAssemblyOfMalformedLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		delta string
		fails bool
	}{
		"nulls":   {`{"tool_calls":[` + strings.TrimSuffix(strings.Repeat("null,", 2000), ",") + `]}`, true},
		"numbers": {`{"x":[` + strings.TrimSuffix(strings.Repeat("1,", 2000), ",") + `]}`, true},
		"indexes": {`{"tool_calls":[{"index":{}},{"index":{}},{"index":[]},{"type":[]},{"type":[]}]}`, false},
	} {
		var parts assembly
		if err := parts.add(0, json.RawMessage(test.delta)); (err != nil) != test.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
