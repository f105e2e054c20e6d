package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// FuzzStream checks that any events result in an error, or in a reply whose raw message is an array
// of blocks and whose text is that of the chunks.
func FuzzStream(f *testing.F) {
	start := `{"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":3}}}` + "\n"
	for _, seed := range []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"a":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}
{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":3}}
{"type":"message_stop"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":5}}`,
	} {
		f.Add([]byte(start + seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var text bytes.Buffer
		s := &stream{options: llms.CallOptions{StreamingFunc: func(_ context.Context, chunk []byte) error {
			text.Write(chunk)
			return nil
		}}}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if s.add(t.Context(), line) != nil {
				return
			}
		}
		r, err := s.whole()
		if err != nil {
			return
		}
		checkReply(t, r)
	})
}

// FuzzReply does the same with replies that are not streamed.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"id":"m","content":[{"type":"text","text":"Hi"},
		{"type":"tool_use","id":"t","name":"n","input":{"a":1}}]}`))
	f.Add([]byte(`{"content":[{"type":"thinking","thinking":"Hm"},null,{}],
		"stop_reason":"end_turn","usage":{"input_tokens":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r reply
		if json.Unmarshal(data, &r) == nil && r.Content != nil {
			checkReply(t, &r)
		}
	})
}

// checkReply checks that a reply can be sent back.
func checkReply(t *testing.T, r *reply) {
	response, err := r.response()
	if err != nil {
		return
	}
	choice := response.Choices[0]
	m, ok := choice.GenerationInfo[lm.MessageKey].(*lm.Message)
	if !ok {
		return
	}
	content, err := rawContent(*m, nil)
	if err != nil {
		t.Fatalf("cannot send back %s: %v", m.Raw, err)
	}
	if _, err := json.Marshal(content); err != nil {
		t.Fatalf("cannot send back %s: %v", m.Raw, err)
	}
}

// TestCutInput checks that a tool call that was cut off can be sent back.
func TestCutInput(t *testing.T) {
	t.Parallel()
	s := &stream{}
	for _, data := range []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\": \"Os"}}`,
	} {
		if err := s.add(t.Context(), []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.whole()
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"id":"t","input":{"INVALID_JSON":"{\"city\": \"Os"},"name":"n","type":"tool_use"}]`
	if string(r.Content) != want {
		t.Errorf("the content is\n%s\nnot\n%s", r.Content, want)
	}
}
