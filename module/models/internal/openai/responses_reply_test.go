package openai

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// TestResponsesStreams reads streams that no correct server sends, and unusual ones.
func TestResponsesStreams(t *testing.T) {
	t.Parallel()
	broken := lm.Error{Kind: lm.KindTransient, MaybeCharged: true}
	delta := func(index int, text string) string {
		return `{"type":"response.output_text.delta","output_index":` + shown(index) + `,"delta":` + shown(text) + `}`
	}
	message := func(text, phase string) string {
		return `{"type":"message","role":"assistant","phase":` + phase +
			`,"content":[{"type":"output_text","text":` + shown(text) + `}]}`
	}
	whole := func(items string) string {
		return `{"type":"response.completed","response":{"status":"completed","error":null,"output":[` + items + `]}}`
	}
	added := func(index int, phase string) string {
		return `{"type":"response.output_item.added","output_index":` + shown(index) +
			`,"item":{"phase":` + phase + `}}`
	}
	thought := func(kind string) string {
		return `{"type":"response.reasoning_` + kind + `.delta","delta":"Hm."}`
	}
	const part = `{"type":"response.reasoning_summary_part.added"}`
	objects := strings.Repeat("{},", 5000) + "{}"
	contradiction := "the model: openai-responses sent a reply that contradicts its streamed pieces; try again"
	for _, test := range []struct {
		name   string
		events []string
		want   string // the text, the thoughts and what was told, or an error
		kind   lm.Error
	}{
		{"one piece", []string{delta(0, "Paris"), whole(message("Paris", "null"))}, "Paris||Paris", lm.Error{}},
		{"no pieces", []string{whole(message("Paris", "null"))}, "Paris||Paris", lm.Error{}},
		{"not all pieces", []string{delta(0, "Pa"), whole(message("Paris", "null"))}, "Paris||Pa,ris", lm.Error{}},
		{"unknown events", []string{`{"type":"response.new.delta","delta":{"x":1},"item":{"arguments":{}}}`, `{}`,
			whole(message("Paris", "null") + `,{"type":"new","content":{"x":1}}`)}, "Paris||Paris", lm.Error{}},
		{"the tools repeated", []string{`{"type":"response.created","response":{"tools":[` + objects + `]}}`,
			whole(message("Paris", "null"))}, "Paris||Paris", lm.Error{}},
		{"commentary", []string{added(1, `"commentary"`), delta(1, "I look."), added(2, `"final_answer"`), delta(2,
			"{}"),
			whole(message("I look.", `"commentary"`) + "," + message("{}", `"final_answer"`))},
			"{}|I look.|(I look.),{}", lm.Error{}},
		{"several thoughts", []string{part, thought("summary_text"), part, thought("summary_text"), thought("text"),
			whole(`{"type":"reasoning","summary":[{"text":"Hm."},{"text":"Hm.Hm."}]}`)},
			"|Hm.\n\nHm.Hm.|(Hm.),(\n\nHm.),(Hm.)", lm.Error{}},
		{"a jump of the index", []string{delta(7, "Paris"), whole(message("Paris", "null"))}, "Paris||Paris",
			lm.Error{}},
		{"a jump out of order", []string{delta(1, "B"), delta(0, "A"), whole(message("A",
			"null") + "," + message("B", "null"))},
			contradiction, broken},
		{"another text in the end", []string{delta(0, "Paris"), whole(message("Rome", "null"))}, contradiction, broken},
		{"a call in the end", []string{delta(0, "Paris"), whole(`{"type":"function_call","call_id":"a","name":"f"}`)},
			contradiction, broken},
		{"no end", []string{delta(0, "Paris")},
			"the model: openai-responses ended the stream before the reply was complete; try again", broken},
		{"no output", []string{`{"type":"response.completed","response":{}}`},
			"the model: openai-responses sent a reply without output; try again", broken},
		{"null as output", []string{`{"type":"response.completed","response":{"output":null}}`},
			"the model: openai-responses sent a reply without output; try again", broken},
		{"6 MB", slices.Repeat([]string{delta(0, strings.Repeat("x", 1<<20))}, 6), "the model: openai-responses " +
			"sent a " +
			"reply of more than 4194304 bytes; set a lower MaxTokens", broken},
		{"no response", []string{`{"type":"response.completed"}`}, "the model: openai-responses sent a malformed " +
			"reply " +
			"(unexpected end of JSON input): ", broken},
		{"another status", []string{`{"type":"response.completed","response":{"status":"queued","output":[]}}`},
			`the model: openai-responses sent a reply with the status "queued"; try again`, broken},
		{"malformed", []string{`{"type":1}`}, "the model: openai-responses sent a malformed reply (json: cannot " +
			"unmarshal " +
			`number into Go struct field responseEvent.Type of type string): {"type":1}`, broken},
		{"a malformed item", []string{whole(`{"type":"message","content":1}`)}, "the model: openai-responses sent a " +
			"malformed reply (json: cannot unmarshal number into Go struct field outputItem.Content of type " +
			"[]struct { " +
			`Text string; Refusal string }): {"type":"message","content":1}`, broken},
		{"an error", []string{delta(0, "Pa"), `{"type":"error","code":"rate_limit_exceeded","message":"Too ` +
			`fast.","param":null}`},
			"the model's rate limit is reached: openai-responses answered with an error: Too fast.; retry later " +
				"or less often",
			lm.Error{Kind: lm.KindRateLimited, MaybeCharged: true}},
		{"an error in the newer form", []string{`{"type":"error","error":{"code":"server_error","message":"Oh."}}`},
			"the model: openai-responses answered with an error: Oh.; try again", broken},
		{"a failure", []string{`{"type":"response.failed","response":{"status":"failed",` +
			`"error":{"code":"server_error",` +
			`"message":"Oh."}}}`}, "the model: openai-responses answered with an error: Oh.; try again", broken},
		{"a failure without an error", []string{`{"type":"response.failed","response":{"status":"failed"}}`},
			`the model: openai-responses sent a reply with the status "failed"; try again`, broken},
		{"10 MB", []string{delta(0, strings.Repeat("x", 10<<20))}, "the model: openai-responses sent a stream " +
			"that is too " +
			"long: more than 8388608 bytes in a line or 268435456 in all", broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			body := "data: " + strings.Join(test.events, "\n\ndata: ") + "\n\n"
			m := serveResponses(t, "gpt-5.1", wire.Options{}, stub.Responses(nil, stub.Reply{Status: 200, Body: body}))
			var told []string
			response, err := m.GenerateContent(t.Context(), question, streamed(&told)...)
			if err != nil {
				checkError(t, err, test.kind, test.want)
				return
			}
			c := response.Choices[0]
			same(t, "reply", c.Content+"|"+c.ReasoningContent+"|"+strings.Join(told, ","), test.want)
		})
	}
}

// A reply that is cut at any byte of its stream is an error.
func TestResponsesCutStream(t *testing.T) {
	t.Parallel()
	reply := stub.Reply{Thinking: "Hm.", Text: "Paris.", ToolCalls: []stub.ToolCall{{Name: "f"}}}
	for cut := 1; ; cut += 97 {
		reply.Cut = cut
		m := serveResponses(t, "gpt-5.1", wire.Options{}, stub.Responses(nil, reply))
		var told []string
		response, err := m.GenerateContent(t.Context(), question, streamed(&told)...)
		if err == nil {
			if same(t, "reply", response.Choices[0].Content, "Paris."); cut < 1000 {
				t.Errorf("complete after %d bytes", cut)
			}
			return
		}
		if e, ok := errors.AsType[*lm.Error](err); !ok || e.Kind != lm.KindTransient || !e.MaybeCharged {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
	}
}

func TestResponsesAnswers(t *testing.T) {
	t.Parallel()
	broken := lm.Error{Kind: lm.KindTransient, MaybeCharged: true}
	for _, test := range []struct {
		name, body string
		want       lm.Error
		text       string
	}{
		{"HTML", "<html><title>Sign in</title>", broken,
			`the model: openai-responses sent an HTML page with the title "Sign in"; check the base URL`},
		{"a chat completion", `{"choices":[{"message":{"content":"Hi."}}]}`, broken,
			"the model: openai-responses sent a reply without output; try again"},
		{"failed", `{"status":"failed","error":{"code":"server_error","message":"Oh."},"output":[]}`, broken,
			"the model: openai-responses answered with an error: Oh.; try again"},
		{"in the background", `{"status":"in_progress","error":null,"output":[]}`, broken,
			`the model: openai-responses sent a reply with the status "in_progress"; try again`},
	} {
		m := serveResponses(t, "gpt-5.1", wire.Options{}, stub.Responses(nil, stub.Reply{Status: 200, Body: test.body}))
		_, err := m.GenerateContent(t.Context(), question)
		checkError(t, err, test.want, test.text)
	}
	filtered := `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`
	m := serveResponses(t, "gpt-5.1", wire.Options{}, stub.Responses(nil, stub.Reply{Status: 200, Body: filtered}))
	_, err := lm.Ask(t.Context(), m, lm.Call{}, question)
	checkError(t, err, lm.Error{Kind: lm.KindRefused, MaybeCharged: true},
		"the model refuses to answer: the stop reason is content_filter")
}
