package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/stub"
)

const review = `review -> mood: Literal["good","bad"], score: float(ge=0, le=1)`

// TestMain replaces the providers with stubs. Keys and addresses are in the environment, as they
// would be for a user.
func TestMain(m *testing.M) {
	o := &stub.Options{Answer: func(r stub.Request) stub.Reply {
		if bytes.Contains(r.Raw, []byte("Broke twice.")) {
			return stub.Reply{Text: `{"mood": "bad", "score": 0.1}`}
		}
		return stub.Reply{Status: http.StatusBadRequest}
	}}
	mux := http.NewServeMux()
	mux.Handle("/openai/", http.StripPrefix("/openai", stub.OpenAI(o)))
	mux.Handle("/anthropic/", http.StripPrefix("/anthropic", stub.Anthropic(o)))
	mux.Handle("/ollama/", http.StripPrefix("/ollama", stub.Ollama(o)))
	server := httptest.NewServer(mux)
	for name, value := range map[string]string{
		"OPENAI_BASE_URL": server.URL + "/openai", "OPENAI_API_KEY": "test-key",
		"ANTHROPIC_BASE_URL": server.URL + "/anthropic", "ANTHROPIC_API_KEY": "test-key",
		"OLLAMA_HOST": server.URL + "/ollama", "GROQ_API_KEY": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	server.Close()
	os.Exit(code)
}

func predict(t *testing.T, stdin string, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), args, strings.NewReader(stdin), &out, io.Discard)
	return out.String(), err
}

func TestPredict(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "replies.txt")
	if err := os.WriteFile(file, []byte(`{"total": 6, "note": "null", "list": ["a"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const lines, object = "mood: bad\nscore: 0.1\n", `{"mood":"bad","score":0.1}` + "\n"
	for name, c := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"openai":    {"", []string{"-model", "openai:gpt-5.1", review, "review=Broke twice."}, lines},
		"anthropic": {"", []string{"-model", "anthropic:claude-sonnet-4-5", review, "review=Broke twice."}, lines},
		"ollama":    {"", []string{"-model", "ollama:qwen3", review, "review=Broke twice."}, lines},
		"JSON":      {"", []string{"-model", "openai:gpt-5.1", "-json", review, "review=Broke twice."}, object},
		"standard input": {"Broke twice.",
			[]string{"-model", "ollama:qwen3", "-json", "-instructions", "Judge it.", review, "review=-"}, object},
		"values": {"", []string{"-model", "script:" + file,
			"numbers: list[int], name: str, n: int -> total: int, note: str, list: list[str]",
			"numbers=[1, 2, 3]", "name=12", "n=3"},
			"total: 6\nnote: null\nlist: [\"a\"]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := predict(t, c.stdin, c.args...); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	const write = "\nwrite each input as name=value; " +
		`the signature is review: str -> mood: Literal["good", "bad"], score: float(ge=0, le=1)`
	model := []string{"-model", "openai:gpt-5.1"}
	_, missing := os.ReadFile("missing.txt")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no signature": {model, "the signature is missing; write a signature, such as 'question -> answer', " +
			`and then its inputs, such as question="What is a writ?"`},
		"a bad signature": {append(model, "a -> b: flot"),
			`signature: column 9: unknown type "flot"; did you mean float?`},
		"a missing input": {append(model, review), "signature: input: review is required" + write},
		"an unknown input": {append(model, review, "review=x", "revue=y"),
			"signature: input: revue is not a known property" + write},
		"not an input": {append(model, review, "-json"),
			`argument "-json" is not an input; write name=value, and flags before the signature`},
		"no model": {[]string{review, "review=x"},
			"-model is not set; write provider:model, such as -model openai:gpt-5.1"},
		"no key": {[]string{"-model", "groq:m", review, "review=x"},
			`models: cannot open "groq:m": GROQ_API_KEY is not set; set it or pass a key`},
		"a missing script": {[]string{"-model", "script:missing.txt", review, "review=x"}, missing.Error()},
	} {
		got, err := predict(t, "", c.args...)
		if err == nil || err.Error() != c.want || got != "" {
			t.Errorf("%s:\ngot  %v\nwant %s", name, err, c.want)
		}
	}
}

// The provider's message reaches the user.
func TestProviderError(t *testing.T) {
	t.Parallel()
	_, err := predict(t, "", "-model", "openai:gpt-5.1", review, "review=Something else.")
	want := "module: no answer: the model: openai answered 400 Bad Request: Bad Request; " +
		"check the model and the options of the request"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = run(ctx, []string{"-model", "openai:gpt-5.1", review, "review=x"}, nil, nil, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
