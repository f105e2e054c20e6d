// Package models opens the language models that the examples can use.
package models

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// Usage describes the argument of [Open].
const Usage = "`provider:model`, such as openai:gpt-5.1 (with OPENAI_API_KEY), anthropic:claude-sonnet-4-5 " +
	"(ANTHROPIC_API_KEY), ollama:qwen3 (OLLAMA_HOST) or another provider that models.Open lists; OPENAI_BASE_URL " +
	"and similar variables set other addresses; script:FILE reads the replies from a file, separated by lines of ---"

// Options configures [Open].
type Options struct {
	// Progress receives a line before each retry, with the reason and the wait. It may be nil.
	Progress io.Writer
}

// Open returns the model that a string such as "openai:gpt-5.1" names.
func Open(name string, o Options) (llms.Model, error) {
	return open(name, &models.RetryOptions{OnRetry: func(_ context.Context, why *models.Error, wait time.Duration) {
		fmt.Fprintf(cmp.Or(o.Progress, io.Discard), "   asking again in %s: %v\n", wait.Round(time.Millisecond), why)
	}})
}

// Main is the main function of an example: it calls run with the model that the flag -model names, or else with one
// that gives the scripted replies.
func Main(run func(ctx context.Context, model llms.Model, w io.Writer) error, script ...string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	name := flag.String("model", "", Usage+"; without it, the replies are scripted")
	flag.Parse()
	w, model, err := show.Writer(os.Stdout), llms.Model(llmtest.New(script...)), error(nil)
	if *name != "" {
		model, err = Open(*name, Options{Progress: w})
	}
	if err == nil {
		err = run(ctx, model, w)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func open(name string, retry *models.RetryOptions) (llms.Model, error) {
	provider, model, _ := strings.Cut(name, ":")
	if provider == "script" {
		return openScript(model)
	}
	return models.Open(name, &models.OpenOptions{Retry: retry})
}
