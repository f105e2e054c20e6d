package models_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/models/internal/openai"
)

var canAll = models.Capabilities{Schema: true, Tools: true, Thinking: true, Caching: true, Vision: true}

// Every wrapper has the capabilities of its model. A wrapper of a model that states no capabilities
// states none, so that messages of a provider are sent as text.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	for _, w := range wrappers {
		if w.name == "fallback" {
			continue
		}
		for _, can := range []models.Capabilities{canAll, {Tools: true}, {}} {
			if got := models.CapabilitiesOf(w.wrap(t, script().With(can))); got != can {
				t.Errorf("%s: got %+v, want %+v", w.name, got, can)
			}
		}
		model := w.wrap(t, script())
		if _, ok := model.(lm.Capable); ok {
			t.Errorf("%s of a model without capabilities has some", w.name)
		}
	}
	var unmade *openai.Model
	if got := models.CapabilitiesOf(models.Retry(unmade, nil)); got != (models.Capabilities{}) {
		t.Errorf("a nil model has the capabilities %+v", got)
	}
	some := models.Capabilities{Schema: true, Vision: true}
	for want, list := range map[models.Capabilities][]llms.Model{
		some: {script().With(canAll), script().With(some)},
		{}:   {script().With(canAll), script()},
	} {
		if got := models.CapabilitiesOf(models.Fallback(list...)); got != want {
			t.Errorf("a fallback: got %+v, want %+v", got, want)
		}
	}
}

// conversation has a provider's message as its first reply.
func conversation() []llms.MessageContent {
	return []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "Capital?"),
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{signed()}},
		llms.TextParts(llms.ChatMessageTypeHuman, "Sure?"),
	}
}

func signed() models.Message {
	return models.Message{
		TextContent: llms.TextContent{Text: "Paris"}, Provider: "anthropic",
		Raw: json.RawMessage(`{"thinking":"France","signature":"x"}`),
	}
}

// Through every wrapper, a provider's message is sent unchanged to a model that states
// capabilities, and as text to others.
func TestMessageIsText(t *testing.T) {
	t.Parallel()
	for _, w := range wrappers {
		plain, able := script(), script()
		for _, model := range []llms.Model{w.wrap(t, plain), w.wrap(t, able.With(canAll))} {
			mustAsk(t, model, lm.Call{}, conversation())
		}
		if got := plain.Requests()[0].Messages[1].Parts; !reflect.DeepEqual(got, []llms.ContentPart{llms.TextPart("Paris")}) {
			t.Errorf("%s of a plain model sends %#v", w.name, got)
		}
		if got := able.Requests()[0].Messages[1].Parts; !reflect.DeepEqual(got, []llms.ContentPart{signed()}) {
			t.Errorf("%s of a capable model sends %#v", w.name, got)
		}
	}
	able, plain := script(errOverloaded), script()
	mustAsk(t, models.Fallback(able.With(canAll), plain), lm.Call{}, conversation())
	for _, c := range []struct {
		model *llmtest.Model
		want  llms.ContentPart
	}{{able, signed()}, {plain, llms.TextPart("Paris")}} {
		if got := c.model.Requests()[0].Messages[1].Parts; !reflect.DeepEqual(got, []llms.ContentPart{c.want}) {
			t.Errorf("a fallback sends %#v, want %#v", got, c.want)
		}
	}
}

// telling is a model whose replies use every field.
func telling() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		said := signed()
		return llmtest.Reply{
			Text: fmt.Sprint("Paris ", r.N), Model: "claude-x", ID: "msg_1", Message: &said, InputTokens: 10, OutputTokens: 3,
			ToolCalls: []llms.ToolCall{
				{ID: "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "f", Arguments: `{"a":1}`}},
			},
		}, nil
	}).With(canAll)
}

// kept calls a model and returns its reply without the usage.
func kept(ctx context.Context, t *testing.T, model llms.Model) lm.Reply {
	t.Helper()
	reply, err := lm.Ask(ctx, model, lm.Call{}, conversation())
	if err != nil {
		t.Fatal(err)
	}
	reply.Usage, reply.Cached = lm.Usage{}, false
	return reply
}

// The provider's message, the model, the ID and tool calls are restored from a cache, in memory and
// in a directory, and from a recording.
func TestReplyIsKeptCompletely(t *testing.T) {
	t.Parallel()
	want := kept(t.Context(), t, telling())
	if want.Message == nil || want.Model != "claude-x" || want.ID != "msg_1" ||
		want.StopReason != "tool_calls" || len(want.ToolCalls) != 1 {
		t.Fatalf("a field of the model's reply is empty: %+v", want)
	}
	path := filepath.Join(t.TempDir(), "file")
	if got := kept(t.Context(), t, openLog(t, path).Model(telling(), "")); !reflect.DeepEqual(got, want) {
		t.Errorf("Resume: got %+v, want %+v", got, want)
	}
	replay := replayed(t, path, nil)
	if got := models.CapabilitiesOf(replay); got != canAll {
		t.Errorf("Replay can %+v", got)
	}
	if got := kept(t.Context(), t, replay); !reflect.DeepEqual(got, want) {
		t.Errorf("Replay: got %+v, want %+v", got, want)
	}
	o := &models.StoreOptions{Path: filepath.Join(t.TempDir(), "cache")}
	for range 2 {
		cache := openStore(t, o)
		for range 2 {
			if got := kept(t.Context(), t, cache.Model(telling(), "a")); !reflect.DeepEqual(got, want) {
				t.Errorf("Cache: got %+v, want %+v", got, want)
			}
		}
		cache.Close()
	}
}

// Calls that differ in a parameter or in a provider's message are not equal.
func TestParamsInKeys(t *testing.T) {
	t.Parallel()
	model := newCache(t).Model(telling(), "a")
	seen := map[string]int{}
	for i, p := range []models.Params{
		{}, {Schema: json.RawMessage(`{"type":"object"}`)}, {Schema: json.RawMessage(`{"type":"array"}`)},
		{Effort: "low"}, {Effort: "high"}, {ThinkingTokens: 100}, {CacheSystem: true},
	} {
		for range 2 {
			seen[kept(models.WithParams(t.Context(), p), t, model).Text] = i
		}
	}
	if len(seen) != 7 {
		t.Errorf("got %d different replies, want 7: %v", len(seen), seen)
	}
	other := conversation()
	resigned := signed()
	resigned.Raw = json.RawMessage(`{"thinking":"France","signature":"y"}`)
	other[1].Parts[0] = resigned
	if reply, err := lm.Ask(t.Context(), model, lm.Call{}, other); err != nil || reply.Cached {
		t.Errorf("different messages are treated as equal: %+v, %v", reply, err)
	}
	bad := models.WithParams(t.Context(), models.Params{Schema: json.RawMessage(`{`)})
	_, err := openLog(t, filepath.Join(t.TempDir(), "log")).Model(telling(), "").GenerateContent(bad, question("Capital?"))
	want := "the model: models: the schema of Params is not valid JSON; pass a JSON Schema"
	if failure(t, err).Kind != models.KindInvalid || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// Parameters and messages are stored and redacted.
func TestParamsStored(t *testing.T) {
	t.Parallel()
	secret := func(text string) string { return strings.ReplaceAll(text, "France", "[country]") }
	o := &models.StoreOptions{Mode: models.Resume, Path: filepath.Join(t.TempDir(), "file"), Redact: secret}
	params := models.Params{Schema: json.RawMessage(`{"title":"France"}`), Effort: "low"}
	ctx := models.WithParams(t.Context(), params)
	want := kept(ctx, t, openStore(t, o).Model(telling(), ""))
	file, err := os.ReadFile(o.Path)
	if err != nil || bytes.Contains(file, []byte("France")) {
		t.Errorf("%v: %s", err, file)
	}
	want.Message.Raw = json.RawMessage(`{"signature":"x","thinking":"[country]"}`)
	if got := kept(ctx, t, replayed(t, o.Path, secret)); !reflect.DeepEqual(got, want) {
		t.Errorf("Replay: got %+v, want %+v", got, want)
	}
	if _, err := lm.Ask(t.Context(), replayed(t, o.Path, secret), lm.Call{}, conversation()); err == nil {
		t.Error("a request without the parameters is treated as the same")
	}
}

// The reply of a fallback names the model that gave it, and has the errors of those before it.
func TestFallbackFailed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model llms.Model
		want  string
	}{
		{models.Fallback(telling(), script(errKey)), ""},
		{models.Fallback(script(errKey), telling()),
			"(1) the model's provider refuses access: API returned unexpected status code: 401: Wrong key"},
		{models.Fallback(script(errKey), script(errors.New("503")), telling()),
			"(1) the model's provider refuses access: API returned unexpected status code: 401: Wrong key; (2) the model: 503"},
		{models.Fallback(script(errKey), models.Fallback(script(errors.New("503")), telling())),
			"(1) the model's provider refuses access: API returned unexpected status code: 401: Wrong key; (1) the model: 503"},
	} {
		reply, err := ask(t.Context(), newCache(t).Model(c.model, "a"))
		if err != nil || reply.Model != "claude-x" || reply.Failed != c.want {
			t.Errorf("got %q by %q, %v, want %q", reply.Failed, reply.Model, err, c.want)
		}
	}
	model := newCache(t).Model(models.Fallback(script(errKey), telling()), "a")
	for _, failed := range []bool{true, false} { // the second time, the cache answers and nothing fails
		if reply, err := ask(t.Context(), model); err != nil || (reply.Failed != "") != failed {
			t.Errorf("got %q, %v", reply.Failed, err)
		}
	}
}
