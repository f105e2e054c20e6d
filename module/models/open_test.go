package models_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// direct returns a client whose requests a handler answers in this process.
func direct(handler http.Handler) *http.Client {
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Result(), nil
	})}
}

type transport func(r *http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// opened returns a model of a provider that uses the client in o.
func opened(t *testing.T, name string, o models.OpenOptions) llms.Model {
	t.Helper()
	o.Key, o.BaseURL = "test-key", "http://stub.invalid"
	model, err := models.Open(name, &o)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// Each provider is called in its own protocol, and states its capabilities.
func TestOpen(t *testing.T) {
	t.Parallel()
	reply := stub.Reply{Text: "Paris"}
	for name, server := range map[string]*stub.Server{
		"openai:gpt-5.1":              stub.OpenAI(nil, reply, reply),
		"anthropic:claude-sonnet-4-5": stub.Anthropic(nil, reply, reply),
		"ollama:qwen3:8b":             stub.Ollama(nil, reply, reply),
		"gemini:gemini-3-pro-preview": stub.Gemini(nil, reply, reply),
		"vertex:gemini-2.5-flash":     stub.Gemini(nil, reply, reply),
		"vllm:Qwen/Qwen3-8B":          stub.OpenAI(&stub.Options{Fields: []string{"max_tokens"}}, reply, reply),
	} {
		model := opened(t, name, models.OpenOptions{Client: direct(server)})
		got, err := ask(t.Context(), model)
		if err != nil || got.Text != "Paris" || got.Usage.Input != 100 || got.Usage.Output != 20 {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		var h hearing
		_, err = lm.Ask(t.Context(), model, h.call(), question("Capital?"))
		if err != nil || strings.Join(h.text, "") != "Paris" {
			t.Errorf("%s: heard %q, %v", name, h.text, err)
		}
		_, asked, _ := strings.Cut(name, ":")
		sent := server.Requests()[0]
		if named := sent.Body["model"] == asked || strings.Contains(sent.Path, "/models/"+asked+":"); !named ||
			sent.Body["temperature"] != nil {
			t.Errorf("%s: sent %s %v", name, sent.Path, sent.Body)
		}
		if can := models.CapabilitiesOf(model); !can.Schema || !can.Tools {
			t.Errorf("%s: can %+v", name, can)
		}
	}
}

// Errors of Open say what to do. Nothing is sent.
func TestOpenErrors(t *testing.T) {
	for _, provider := range []string{
		"openai", "openai-responses", "anthropic", "gemini", "mistral", "groq", "openrouter", "deepseek", "xai",
		"together",
	} {
		variable := strings.ToUpper(strings.TrimSuffix(provider, "-responses")) + "_API_KEY"
		t.Setenv(variable, "")
		_, err := models.Open(provider+":m", nil)
		want := `models: cannot open "` + provider + `:m": ` + variable + " is not set; set it or pass a key"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	const unnamed = ` does not name a provider and a model; write both, such as "openai:gpt-5.1"`
	for name, want := range map[string]string{
		"":        `models: ""` + unnamed,
		"gpt-5.1": `models: "gpt-5.1"` + unnamed,
		"openai:": `models: "openai:"` + unnamed,
		"acme:m": `models: provider "acme" of model "acme:m" is unknown; use one of openai, openai-responses, ` +
			"azure, azure-responses, anthropic, ollama, gemini, vertex, mistral, groq, openrouter, deepseek, xai, " +
			"together, vllm, lmstudio, or openai with a BaseURL",
	} {
		if model, err := models.Open(name, nil); model != nil || err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
}

// A call is retried after the time that the provider requests.
func TestOpenRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := stub.Reply{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"20"}}}
		server := stub.OpenAI(nil, busy, stub.Reply{Text: "Paris"})
		begin := time.Now()
		got, err := ask(t.Context(), opened(t, "openai:gpt-5.1", models.OpenOptions{Client: direct(server)}))
		if took := time.Since(begin); err != nil || got.Text != "Paris" || took < 20*time.Second || took > 22*time.Second {
			t.Errorf("got %+v, %v after %s", got, err, took)
		}
	})
}

// hangs answers the first request only when it is cancelled, after the beginning of a stream if one
// is given. It passes later requests on.
func hangs(begin string, then http.Handler) *http.Client {
	next, n := direct(then).Transport, 0
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		if n++; n > 1 {
			return next.RoundTrip(r)
		}
		if begin == "" {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		in, out := io.Pipe()
		go func() {
			_, _ = io.WriteString(out, begin)
			<-r.Context().Done()
			_ = out.CloseWithError(r.Context().Err())
		}()
		header := http.Header{"Content-Type": {"text/event-stream"}}
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: in, Request: r}, nil
	})}
}

// An attempt that takes too long has its own error, and is retried. A call that reaches its
// deadline is not.
func TestOpenAttempt(t *testing.T) {
	t.Parallel()
	const piece = `data: {"choices":[{"index":0,"delta":{"content":"Pa"},"finish_reason":null}]}` + "\n\n"
	slow := "the model: the reply took longer than 1m0s, the limit for one attempt; raise the option Attempt"
	const minute = time.Minute
	once := &models.RetryOptions{Attempts: 1}
	for name, c := range map[string]struct {
		begin   string
		options models.OpenOptions
		stream  bool
		want    string // the reply or the error
		after   time.Duration
	}{
		"the default":      {"", models.OpenOptions{}, false, "Paris", 10 * time.Minute},
		"a limit":          {"", models.OpenOptions{Attempt: minute}, false, "Paris", minute},
		"no other attempt": {"", models.OpenOptions{Attempt: minute, Retry: once}, false, slow, minute},
		"in a stream":      {piece, models.OpenOptions{Attempt: minute}, true, slow, minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c.options.Client = hangs(c.begin, stub.OpenAI(nil, stub.Reply{Text: "Paris"}))
				call := lm.Call{}
				if c.stream {
					call.OnText = func(string) {}
				}
				begin := time.Now()
				reply, err := lm.Ask(t.Context(), opened(t, "openai:gpt-5.1", c.options), call, question("Capital?"))
				got := reply.Text
				if err != nil {
					got = err.Error()
					if e := failure(t, err); e.Kind != models.KindTransient || !e.MaybeCharged {
						t.Errorf("got %+v", e)
					}
				}
				if took := time.Since(begin); got != c.want || took < c.after || took > c.after+time.Second {
					t.Errorf("got %s after %s, want %s after %s", got, took, c.want, c.after)
				}
			})
		})
	}
}

// The deadline of a call is not the limit of an attempt.
func TestOpenDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := ask(ctx, opened(t, "openai:gpt-5.1", models.OpenOptions{Client: hangs("", stub.OpenAI(nil))}))
		if e := failure(t, err); e.Kind != models.KindCancelled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
