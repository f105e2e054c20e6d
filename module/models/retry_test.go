package models_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// script is a model that returns the errors in turn, and then "Paris".
func script(errs ...error) *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N <= len(errs) {
			return llmtest.Reply{}, errs[r.N-1]
		}
		return llmtest.Reply{Text: "Paris", Chunks: []string{"Par", "is"}}, nil
	})
}

var (
	errOverloaded = errors.New("API returned unexpected status code: 529: Overloaded")
	errKey        = errors.New("API returned unexpected status code: 401: Wrong key")
	errTooLong    = errors.New("API returned unexpected status code: 400: prompt is too long")
	errRefusing   = errors.New("blocked: prompt: SAFETY")
	errCut        = errors.New("error reading streaming response: unexpected EOF")
)

func limited(wait time.Duration) error {
	return &models.Error{Kind: models.KindRateLimited, Status: 429, RetryAfter: wait, Err: errors.New("slow down")}
}

func ask(ctx context.Context, model llms.Model) (lm.Reply, error) {
	return lm.Ask(ctx, model, lm.Call{}, question("Capital?"))
}

// mustAsk calls a model, which must reply.
func mustAsk(t *testing.T, model llms.Model, call lm.Call, messages []llms.MessageContent,
	options ...llms.CallOption) lm.Reply {
	t.Helper()
	reply, err := lm.Ask(t.Context(), model, call, messages, options...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestRetry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		errs    []error
		options *models.RetryOptions
		asked   int
		least   time.Duration // at most a tenth more is allowed
		want    string        // "" for an answer
	}{
		"no error":         {nil, nil, 1, 0, ""},
		"twice overloaded": {[]error{errOverloaded, errOverloaded}, nil, 3, 1500 * time.Millisecond, ""},
		"always": {[]error{errOverloaded, errOverloaded, errOverloaded, errOverloaded, errOverloaded}, nil,
			4, 3500 * time.Millisecond, "the model: API returned unexpected status code: 529: Overloaded"},
		"one attempt": {[]error{errOverloaded}, &models.RetryOptions{Attempts: 1}, 1, 0,
			"the model: API returned unexpected status code: 529: Overloaded"},
		"bounded waits": {[]error{errOverloaded, errOverloaded, errOverloaded},
			&models.RetryOptions{MinWait: time.Second, MaxWait: 2 * time.Second}, 4, 5 * time.Second, ""},
		"as the provider asks": {[]error{limited(20 * time.Second)}, nil, 2, 20 * time.Second, ""},
		"a wait that is too long": {[]error{limited(time.Hour)}, nil, 1, 0,
			"the model's rate limit is reached for 1h0m0s: slow down"},
		"wrong key": {[]error{errKey}, nil, 1, 0,
			"the model's provider refuses access: API returned unexpected status code: 401: Wrong key"},
		"too long": {[]error{errTooLong}, nil, 1, 0,
			"the prompt is too long for the model: API returned unexpected status code: 400: prompt is too long"},
		"refused":       {[]error{errRefusing}, nil, 1, 0, "the model refuses to answer: blocked: prompt: SAFETY"},
		"unknown":       {[]error{errors.New("what?")}, nil, 1, 0, "the model: what?"},
		"maybe charged": {[]error{errCut}, nil, 2, 500 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				model := script(c.errs...)
				options := models.RetryOptions{}
				if c.options != nil {
					options = *c.options
				}
				told := 0
				options.OnRetry = func(context.Context, *models.Error, time.Duration) { told++ }
				start := time.Now()
				reply, err := ask(t.Context(), models.Retry(model, &options))
				if took := time.Since(start); took < c.least || took > c.least+c.least/10+time.Millisecond {
					t.Errorf("took %s, want %s", took, c.least)
				}
				if n := len(model.Requests()); n != c.asked || told != c.asked-1 {
					t.Errorf("asked %d times, told %d times, want %d", n, told, c.asked)
				}
				if (c.want == "") != (err == nil && reply.Text == "Paris") || (err != nil && err.Error() != c.want) {
					t.Errorf("got %q, %v, want %s", reply.Text, err, c.want)
				}
			})
		})
	}
}

// A wait beyond the deadline is not started, and a cancelled wait ends.
func TestRetryWhenDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := ask(ctx, models.Retry(script(limited(30*time.Second)), nil))
		if e := failure(t, err); e.Kind != models.KindRateLimited || time.Since(start) != 0 {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		_, err = models.Retry(script(limited(30*time.Second)), nil).GenerateContent(ctx, question("Capital?"))
		if e := failure(t, err); e.Kind != models.KindCancelled || time.Since(start) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

// breaks is a model that streams a chunk and fails. Later calls succeed.
func breaks(failure error) *llmtest.Model {
	return llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > 1 {
			return llmtest.Reply{Text: "Rome", Chunks: []string{"Rome"}}, nil
		}
		if r.Options.StreamingFunc != nil {
			_ = r.Options.StreamingFunc(ctx, []byte("Par"))
		}
		return llmtest.Reply{}, failure
	})
}

// A reply that was partly streamed is not replaced by another attempt.
func TestNotAfterStreaming(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(llms.Model) llms.Model{
		"retry":    func(m llms.Model) llms.Model { return models.Retry(m, nil) },
		"fallback": func(m llms.Model) llms.Model { return models.Fallback(m, m) },
	} {
		model := breaks(errOverloaded)
		var h hearing
		_, err := lm.Ask(t.Context(), wrap(model), h.call(), question("Capital?"))
		if failure(t, err).Status != 529 || fmt.Sprint(h.text) != "[Par]" || len(model.Requests()) != 1 {
			t.Errorf("%s: heard %q, %d requests, %v", name, h.text, len(model.Requests()), err)
		}
	}
}

// Negative waits count as zero, and very long waits do not overflow.
func TestRetryOddWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, wait := range []time.Duration{-5 * time.Second, math.MinInt64} {
			start := time.Now()
			if reply, err := ask(t.Context(), models.Retry(script(limited(wait)), nil)); err != nil || reply.Text != "Paris" ||
				time.Since(start) < 500*time.Millisecond {
				t.Errorf("%s: got %q, %v after %s", wait, reply.Text, err, time.Since(start))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		model := script(limited(math.MaxInt64))
		if _, err := ask(ctx, models.Retry(model, &models.RetryOptions{MaxWait: math.MaxInt64})); failure(t,
			err).Kind != models.KindRateLimited || len(model.Requests()) != 1 {
			t.Errorf("got %v", err)
		}
		failing := script(slices.Repeat([]error{errOverloaded}, 80)...)
		if _, err := ask(t.Context(),
			models.Retry(failing, &models.RetryOptions{Attempts: 20, MinWait: 1, MaxWait: math.MaxInt64})); failure(t,
			err).Status != 529 || len(failing.Requests()) != 20 {
			t.Errorf("asked %d times, %v", len(failing.Requests()), err)
		}
	})
}

// A nil *Error, and an error without a message, are errors.
func TestSilentErrors(t *testing.T) {
	t.Parallel()
	var none *models.Error
	for want, err := range map[string]error{
		"the model: the provider returned a nil *Error": none,
		"the model: invalid":                            &models.Error{Kind: models.KindInvalid},
	} {
		model := told(func() (*llms.ContentResponse, error) {
			return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "Paris"}}}, err
		})
		for _, m := range []llms.Model{model, models.Retry(model, nil), models.Fallback(model),
			openLog(t, filepath.Join(t.TempDir(), "log")).Model(model, "")} {
			if _, got := ask(t.Context(), m); got == nil || got.Error() != want {
				t.Errorf("got %v, want %s", got, want)
			}
		}
	}
	var nobody told
	if _, err := ask(t.Context(), models.Retry(nobody, nil)); failure(t, err).Kind != models.KindUnknown ||
		!strings.HasPrefix(err.Error(), "the model: the provider panicked: runtime error: ") {
		t.Errorf("got %v", err)
	}
}

// A reply has the errors of the attempts before, for records of the run.
func TestRetryNotesFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reply := mustAsk(t, models.Retry(script(limited(0), errOverloaded), nil), lm.Call{}, question("Capital?"))
		if !strings.Contains(reply.Failed, "(1) ") || !strings.Contains(reply.Failed, "slow down; (2) ") ||
			!strings.Contains(reply.Failed, "Overloaded") {
			t.Errorf("got %q", reply.Failed)
		}
		if reply = mustAsk(t, models.Retry(script(), nil), lm.Call{}, question("Capital?")); reply.Failed != "" {
			t.Errorf("without failures: %q", reply.Failed)
		}
	})
}
