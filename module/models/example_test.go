package models_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
	"golang.org/x/oauth2"
)

// busy is a model that is overloaded the first time.
func busy() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 1 {
			return llmtest.Reply{}, errors.New("503 Service Unavailable: overloaded")
		}
		return llmtest.Reply{Text: "Paris", InputTokens: 1000, OutputTokens: 200}, nil
	})
}

// A stub stands in for the provider here. Without options, the key is read from OPENAI_API_KEY.
func ExampleOpen() {
	server := httptest.NewServer(stub.OpenAI(nil, stub.Reply{Text: "Paris"}))
	defer server.Close()
	model, err := models.Open("openai:gpt-5.1", &models.OpenOptions{BaseURL: server.URL, Key: "test-key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(llms.GenerateFromSinglePrompt(context.Background(), model, "The capital of France?"))
	fmt.Println("structured output:", models.CapabilitiesOf(model).Schema)

	_, err = models.Open("gpt-5.1", nil)
	fmt.Println(err)
	// Output:
	// Paris <nil>
	// structured output: true
	// models: "gpt-5.1" does not name a provider and a model; write both, such as "openai:gpt-5.1"
}

// Google's client libraries find the credentials of a program: replace the static source by the one that
// google.DefaultTokenSource of golang.org/x/oauth2/google returns.
func ExampleOpen_vertex() {
	server := httptest.NewServer(stub.Gemini(&stub.Options{Key: "token"}, stub.Reply{Text: "Paris"}))
	defer server.Close()
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "token"})
	model, err := models.Open("vertex:gemini-3-pro-preview", &models.OpenOptions{
		BaseURL: server.URL, Project: "acme", Location: "global",
		Token: func(context.Context) (string, error) {
			token, err := source.Token()
			if err != nil {
				return "", err
			}
			return token.AccessToken, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(llms.GenerateFromSinglePrompt(context.Background(), model, "The capital of France?"))
	// Output: Paris <nil>
}

// The errors of modules have a kind too.
func ExampleError() {
	type Question struct{ Country string }
	type Answer struct{ Capital string }
	capitals := signature.Must(signature.New[Question, Answer]("Name the capital."))
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{}, errors.New("API returned unexpected status code: 401: Incorrect API key provided: sk-…")
	})
	_, err := module.NewPredict(capitals, model, nil).Run(context.Background(), Question{"France"})
	if e := (*models.Error)(nil); errors.As(err, &e) && e.Kind == models.KindAuth {
		fmt.Println("look at the key:", e.Err)
	}
	// Output:
	// look at the key: API returned unexpected status code: 401: Incorrect API key provided: sk-…
}

func ExampleRetry() {
	model := models.Retry(busy(), &models.RetryOptions{
		MinWait: time.Millisecond,
		OnRetry: func(_ context.Context, why *models.Error, _ time.Duration) { fmt.Println("again, because:", why) },
	})
	fmt.Println(llms.GenerateFromSinglePrompt(context.Background(), model, "The capital of France?"))
	// Output:
	// again, because: the model: 503 Service Unavailable: overloaded
	// Paris <nil>
}

// A call is not made if the rate limit would delay it beyond its deadline.
func ExampleRateLimit() {
	model := models.RateLimit(llmtest.New("Paris", "Rome"), &models.Rates{RequestsPerMinute: 1})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	fmt.Println(llms.GenerateFromSinglePrompt(ctx, model, "The capital of France?"))
	_, err := llms.GenerateFromSinglePrompt(ctx, model, "The capital of Italy?")
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// Paris <nil>
	// true
}

func ExampleStore() {
	cache, err := models.OpenStore(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := llmtest.New("Paris", "Lutetia")
	ctx := context.Background()
	for _, label := range []string{"llmtest", "llmtest", "another sample"} {
		fmt.Println(llms.GenerateFromSinglePrompt(ctx, cache.Model(model, label), "The capital of France?"))
	}
	fmt.Printf("%+v\n", cache.Stats())
	// Output:
	// Paris <nil>
	// Paris <nil>
	// Lutetia <nil>
	// 2 sent to the model, 1 answered by the store
}

func ExampleFallback() {
	model := models.Fallback(busy(), llmtest.New("Paris"))
	fmt.Println(llms.GenerateFromSinglePrompt(context.Background(), model, "The capital of France?"))
	// Output:
	// Paris <nil>
}

// A file of replies can replace the model in tests.
func ExampleStore_replay() {
	dir, err := os.MkdirTemp("", "replies")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, ctx := filepath.Join(dir, "replies.jsonl"), context.Background()
	stored, err := models.OpenStore(&models.StoreOptions{Mode: models.Resume, Path: path})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stored.Close()
	model := stored.Model(llmtest.New("Paris"), "llmtest")
	fmt.Println(llms.GenerateFromSinglePrompt(ctx, model, "The capital of France?"))

	replies, err := models.OpenStore(&models.StoreOptions{Mode: models.Replay, Path: path})
	if err != nil {
		fmt.Println(err)
		return
	}
	model = replies.Model(nil, "llmtest")
	fmt.Println(llms.GenerateFromSinglePrompt(ctx, model, "The capital of France?"))
	_, err = llms.GenerateFromSinglePrompt(ctx, model, "The capital of Italy?")
	fmt.Println(err)
	// Output:
	// Paris <nil>
	// Paris <nil>
	// the model: this request is not in the store; the most similar one, in line 1, has "…man: The capital of France?\n{\"label\":\"llmtest\",\"messages\":nu…" instead of "…man: The capital of Italy?\n{\"label\":\"llmtest\",\"messages\":nul…"; store the replies again
}
