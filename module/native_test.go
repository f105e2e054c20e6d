package module_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
)

// ticket is an answer with everything that providers' subsets of JSON Schema express in another
// way.
type ticket struct {
	Title string   `json:"title"`
	Tags  []string `json:"tags"`
	Owner string   `json:"owner,omitempty"`
	Level int      `json:"level" jsonschema:"minimum=1,maximum=5"`
}

var triaging = signature.Must(signature.New[review, ticket]("Triage the mail."))

// protocols are the stubs of the providers, each with a model that uses it.
var protocols = map[string]struct {
	serve func(*stub.Options, ...stub.Reply) *stub.Server
	model string
}{
	"openai":    {stub.OpenAI, "openai:gpt-5.1"},
	"responses": {stub.Responses, "openai-responses:gpt-5.1"},
	"anthropic": {stub.Anthropic, "anthropic:claude-sonnet-4-5"},
	"ollama":    {stub.Ollama, "ollama:qwen3"},
}

// openStub returns a model of a provider's stub.
func openStub(t *testing.T, protocol string, o *stub.Options, replies ...stub.Reply) (llms.Model, *stub.Server) {
	t.Helper()
	p := protocols[protocol]
	s := p.serve(o, replies...)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	model, err := models.Open(p.model, &models.OpenOptions{BaseURL: server.URL, Key: "test-key", Client: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	return model, s
}

// A typed answer uses the provider's structured output, in which null stands for a missing value.
// What the provider cannot enforce is validated here.
func TestNative(t *testing.T) {
	t.Parallel()
	const tooHigh = `{"title":"Broken","tags":["a"],"owner":null,"level":9}`
	const fits = `{"title":"Broken","tags":["a"],"owner":null,"level":5}`
	for protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			model, server := openStub(t, protocol, nil, stub.Reply{Text: tooHigh}, stub.Reply{Text: fits})
			pred, err := module.NewPredict(triaging, model, nil).Run(t.Context(), broken)
			if err != nil || fmt.Sprint(pred.Output) != "{Broken [a]  5}" {
				t.Fatalf("got %+v, %v", pred, err)
			}
			var asked []string
			for _, r := range server.Requests() {
				if strings.Contains(r.Path, "show") {
					continue
				}
				asked = append(asked, string(r.Raw))
				at := strings.Index(string(r.Raw), `"properties":{"title"`)
				if at < 0 || !strings.Contains(string(r.Raw), `"additionalProperties":false`) {
					t.Errorf("no schema in %s", r.Raw)
				}
			}
			if len(asked) != 2 || !strings.Contains(asked[1], "level") || len(pred.Trajectory.Steps) != 2 {
				t.Errorf("asked %d times", len(asked))
			}
			for name, u := range pred.Trajectory.UsageByModel() {
				if name == "" || u.Calls != 2 || u.InputTokens == 0 {
					t.Errorf("%q used %+v", name, u)
				}
			}
		})
	}
}

// A schema that the provider refuses is omitted, and the prompt describes the form instead.
func TestNativeRefused(t *testing.T) {
	t.Parallel()
	for protocol := range protocols {
		model, server := openStub(t, protocol, &stub.Options{NoSchema: true},
			stub.Reply{Text: "Here it is:\n```json\n" + `{"title":"Broken","tags":[],"level":1}` + "\n```"},
			stub.Reply{Text: `{"title":"Fixed","tags":[],"level":1}`})
		m := module.NewPredict(triaging, model, nil)
		for _, want := range []string{"{Broken []  1}", "{Fixed []  1}"} {
			pred, err := m.Run(t.Context(), broken)
			if err != nil || fmt.Sprint(pred.Output) != want {
				t.Errorf("%s: got %+v, %v", protocol, pred, err)
			}
		}
		refused := 0
		for _, r := range server.Requests() {
			if strings.Contains(string(r.Raw), `"additionalProperties"`) {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("%s: the schema was sent %d times, not once", protocol, refused)
		}
	}
}

// The form of a prompt depends on the outputs, the model and the adapter.
func TestNativeWhen(t *testing.T) {
	t.Parallel()
	able := models.Capabilities{Schema: true}
	for _, c := range []struct {
		spec    string
		can     models.Capabilities
		adapter module.Adapter
		schema  bool
		want    string
	}{
		{"q -> a: str, b: int", able, nil, true, ""},
		{"q -> a: str, b: int", models.Capabilities{}, nil, false, ""},
		{"q -> a: str, b: str", able, nil, false, ""},
		{"q -> a: dict[str, int]", able, nil, false, ""},
		{"q -> a: str, b: int", able, module.Markers(), false, ""},
		{"q -> a: str, b: int", able, module.JSON(), false, ""},
		{"q -> a: str, b: str", able, module.Native(), true, ""},
		{"q -> a: str", models.Capabilities{}, module.Native(), false,
			"module: the adapter is Native, but the model does not state that it can constrain its output; leave " +
				"Options.Adapter nil, or use a model with the capability Schema"},
		{"q -> a: dict[str, int]", able, module.Native(), false,
			"module: the adapter is Native, but providers cannot enforce the schema of the outputs, because it has a map, " +
				"a value of any type, a tuple or a recursive type; leave Options.Adapter nil"},
	} {
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if got := r.Params.Schema != nil; got != c.schema {
				t.Errorf("%s, %+v, %T: a schema is sent: %t", c.spec, c.can, c.adapter, got)
			}
			return llmtest.Reply{Text: `{"a": {}, "b": 1}`}, nil
		})
		m := module.NewPredict(signature.Must(signature.Parse(c.spec, "")), model.With(c.can),
			&module.Options{Adapter: c.adapter})
		_, err := m.Run(t.Context(), signature.Values{{Name: "q", JSON: json.RawMessage(`"?"`)}})
		if c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: got %v, want %s", c.spec, err, c.want)
		}
	}
}

// A stream has the text of each field as it grows.
func TestNativeStream(t *testing.T) {
	t.Parallel()
	for protocol := range protocols {
		model, _ := openStub(t, protocol, nil,
			stub.Reply{Text: `{"title":"It \"broke\"","tags":["a"],"owner":"Ann","level":5}`})
		fields := map[string]string{}
		for e, err := range module.Start(t.Context(), module.NewPredict(triaging, model, nil), broken).Events() {
			if err != nil {
				t.Fatal(protocol, err)
			}
			if d, ok := e.(event.TextDelta); ok {
				fields[d.Field] += d.Text
			}
		}
		if got := fmt.Sprint(fields); got != `map[level:5 owner:Ann tags:["a"] title:It "broke"]` {
			t.Errorf("%s: got %s", protocol, got)
		}
	}
}

// After a fallback, the events name the model that replied and the error of the one before.
func TestFallbackInEvents(t *testing.T) {
	t.Parallel()
	down, _ := openStub(t, "openai", &stub.Options{Models: []string{"gpt-5.2"}})
	up, _ := openStub(t, "anthropic", nil, stub.Reply{Text: `{"title":"Broken","tags":[],"owner":null,"level":1}`})
	var got event.ModelResponse
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
		if r, ok := e.(event.ModelResponse); ok {
			got = r
		}
	})
	pred, err := module.NewPredict(triaging, models.Fallback(down, up), nil).Run(ctx, broken)
	if err != nil || got.Model != "claude-sonnet-4-5" || pred.Trajectory.Steps[0].Model != got.Model ||
		!strings.Contains(got.Failed, "404") || pred.Trajectory.Steps[0].Failed != got.Failed {
		t.Errorf("%q answered after %q, %v", got.Model, got.Failed, err)
	}
}
