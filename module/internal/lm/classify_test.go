package lm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// coded is an error like those of the AWS SDK.
type coded struct{ error }

// HTTPStatusCode returns the status, as in the SDK.
func (coded) HTTPStatusCode() int { return 429 }

// TestTexts classifies the texts of providers' errors, where nothing else is known.
func TestTexts(t *testing.T) {
	t.Parallel()
	text := errors.New
	for _, c := range []struct {
		err     error
		kind    Kind
		status  int
		charged bool
		wait    time.Duration
	}{
		{text("API returned unexpected status code: 429: Rate limit reached for gpt-4o. Please try again in 20ms. Visit " +
			"https://platform.openai.com."), KindRateLimited, 429, false, 20 * time.Millisecond},
		{text("API returned unexpected status code: 429: You exceeded your current quota, please check your plan and " +
			"billing details."), KindAuth, 429, false, 0},
		{text("API returned unexpected status code: 400: This model's maximum context length is 8192 tokens. However, " +
			"your messages resulted in 9001 tokens."), KindContextTooLong, 400, false, 0},
		{text("API returned unexpected status code: 429: Request too large for gpt-4o in organization org-x on tokens per " +
			"min (TPM): Limit 30000, Requested 67402. The input or output tokens must be reduced in order to run successfully."),
			KindContextTooLong, 429, false, 0},
		{text("API returned unexpected status code: 404: The model `gpt-9` does not exist or you do not have access to it."),
			KindInvalid, 404, false, 0},
		{text("API returned unexpected status code: 500"), KindTransient, 500, false, 0},
		{text("network error: failed to reach API server"), KindTransient, 0, true, 0},
		{text("request timeout: network operation exceeded timeout"), KindTransient, 0, true, 0},
		{text("request timeout: API call exceeded deadline"), KindTransient, 0, true, 0},
		{text("error reading streaming response: unexpected EOF"), KindTransient, 0, true, 0},
		{text("error reading streaming response: bufio.Scanner: token too long"), KindUnknown, 0, false, 0},
		{text("empty response"), KindTransient, 0, true, 0},
		{text("anthropic: failed to create message: API returned unexpected status code: 529: Overloaded"), KindTransient,
			529, false, 0},
		{text("anthropic: failed to create message: API returned unexpected status code: 400: Your credit balance is too " +
			"low to access the Anthropic API."), KindAuth, 400, false, 0},
		{text("anthropic: failed to create message: API returned unexpected status code: 400: prompt is too long: 208310 " +
			"tokens > 200000 maximum"), KindContextTooLong, 400, false, 0},
		{text("anthropic: failed to create message: received error event: map[error:map[message:Overloaded " +
			"type:overloaded_error] type:error]"), KindTransient, 0, false, 0},
		{text("anthropic: failed to create message: received error event: map[error:map[message:Number of tokens " +
			"type:rate_limit_error] type:error]"), KindRateLimited, 0, false, 0},
		{text("anthropic: unsupported human message part type: llms.ImageURLContent"), KindInvalid, 0, false, 0},
		{text("no response"), KindTransient, 0, true, 0},
		{text("googleapi: Error 429: You exceeded your current quota, please check your plan and billing details.\n* " +
			"Quota exceeded for metric: generate_content_free_tier_requests, limit: 20\nPlease retry in 34.074824224s."),
			KindRateLimited, 429, false, 34074824224},
		{text("googleapi: Error 503: The model is overloaded. Please try again later."), KindTransient, 503, false, 0},
		{text("googleapi: Error 400: API key not valid. Please pass a valid API key."), KindAuth, 400, false, 0},
		{text("googleapi: Error 400: The input token count (1200000) exceeds the maximum number of tokens allowed " +
			"(1048576)."), KindContextTooLong, 400, false, 0},
		{text("blocked: candidate: FinishReasonSafety"), KindRefused, 0, false, 0},
		{text("rpc error: code = ResourceExhausted desc = Quota exceeded"), KindRateLimited, 0, false, 0},
		{text("rpc error: code = Unavailable desc = connection closed"), KindTransient, 0, false, 0},
		{text("rpc error: code = PermissionDenied desc = Vertex AI API has not been used"), KindAuth, 0, false, 0},
		{text("429 Too Many Requests: slow down"), KindRateLimited, 429, false, 0},
		{text("500 Internal Server Error: model runner has unexpectedly stopped"), KindTransient, 500, false, 0},
		{text(`model "qwen9" not found, try pulling it first`), KindInvalid, 0, false, 0},
		{text("operation error Bedrock Runtime: InvokeModel, https response error StatusCode: 429, RequestID: 1, " +
			"ThrottlingException: Too many requests"), KindRateLimited, 429, false, 0},
		{text("operation error Bedrock Runtime: InvokeModel, https response error StatusCode: 400, RequestID: 1, " +
			"ValidationException: Input is too long for requested model."), KindContextTooLong, 400, false, 0},
		{text("operation error Bedrock Runtime: InvokeModel, https response error StatusCode: 403, RequestID: 1, " +
			"AccessDeniedException: no access"), KindAuth, 403, false, 0},
		{coded{text("throttled")}, KindRateLimited, 429, false, 0},
		{text("unexpected status code: 503, body: {\"error\":\"Model is currently loading\"}"), KindTransient, 503, false, 0},
		{text("(HTTP Error 401) Unauthorized"), KindAuth, 401, false, 0},
		{llms.NewError(llms.ErrCodeRateLimit, "mine", "wait"), KindRateLimited, 0, false, 0},
		{llms.NewError(llms.ErrCodeTokenLimit, "mine", "too much"), KindContextTooLong, 0, false, 0},
		{llms.NewError(llms.ErrCodeContentFilter, "mine", "no"), KindRefused, 0, false, 0},
		{&url.Error{Op: "Post", URL: "http://x", Err: io.ErrUnexpectedEOF}, KindTransient, 0, true, 0},
		{&url.Error{Op: "Post", URL: "http://x", Err: io.EOF}, KindTransient, 0, true, 0},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, KindTransient, 0, false, 0},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, KindTransient, 0, true, 0},
		{&net.DNSError{Err: "no such host", Name: "x"}, KindTransient, 0, false, 0},
		{fmt.Errorf("the client's own: %w", context.DeadlineExceeded), KindTransient, 0, true, 0},
		{text("llmtest: request 3 has no reply"), KindUnknown, 0, false, 0},
		{text("expected exactly one part for role tool, got 2"), KindUnknown, 0, false, 0},
	} {
		got := (*Error)(nil)
		if !errors.As(classify(c.err), &got) {
			t.Fatalf("%v is not classified", c.err)
		}
		want := Error{Kind: c.kind, Status: c.status, RetryAfter: c.wait, MaybeCharged: c.charged, Err: c.err}
		if *got != want {
			t.Errorf("%v\ngot  %q %d %v %s\nwant %q %d %v %s", c.err, got.Kind, got.Status, got.MaybeCharged, got.RetryAfter,
				want.Kind, want.Status, want.MaybeCharged, want.RetryAfter)
		}
	}
}

// An error that has been classified does not change.
func TestClassifyOnce(t *testing.T) {
	t.Parallel()
	inner := &Error{Kind: KindOverBudget, Err: errors.New("429: spent")}
	if got := classify(fmt.Errorf("wrapped: %w", inner)); got.Error() != "wrapped: 429: spent" {
		t.Errorf("got %v", got)
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	why := errors.New("so it is")
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Kind: KindRateLimited, Err: why}, "the model's rate limit is reached: so it is"},
		{Error{Kind: KindRateLimited, RetryAfter: 1234567 * time.Microsecond, Err: why},
			"the model's rate limit is reached for 1.235s: so it is"},
		{Error{Kind: KindContextTooLong, Err: why}, "the prompt is too long for the model: so it is"},
		{Error{Kind: KindRefused, Err: why}, "the model refuses to answer: so it is"},
		{Error{Kind: KindAuth, Err: why}, "the model's provider refuses access: so it is"},
		{Error{Kind: KindTransient, Err: why}, "the model: so it is"},
		{Error{Kind: KindUnknown, Err: why}, "the model: so it is"},
		{Error{Kind: KindCancelled, Err: context.Canceled}, "context canceled"},
		{Error{Kind: KindOverBudget, Err: why}, "so it is"},
		{Error{Kind: KindCancelled}, "cancelled"},
		{Error{Kind: KindAuth}, "the model's provider refuses access: auth"},
		{Error{}, "the model: unknown error"},
		{Error{Err: errors.New("\x1b[2J\u202e")}, `the model: \u001b[2J\u202e`},
	} {
		if c.err.Error() != c.want || !errors.Is(&c.err, c.err.Err) && c.err.Err != nil {
			t.Errorf("got %q, want %q", c.err.Error(), c.want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("API returned unexpected status code: 429: try again in 1m2.5s.")
	f.Add("googleapi: Error 503: x")
	f.Add("try again in 9999999999999h")
	f.Fuzz(func(t *testing.T, text string) {
		e := (*Error)(nil)
		if !errors.As(classify(errors.New(text)), &e) {
			t.Fatal("not classified")
		}
		if e.RetryAfter < 0 || (e.Status != 0 && (e.Status < 400 || e.Status > 599)) {
			t.Errorf("%q: %+v", text, e)
		}
	})
}

// If the provider gives codes, the parts of the request that it quotes do not count.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status        int
		message, code string
		want          Error
	}{
		{400, "Invalid value 'please explain billing' for messages[0]", "invalid_request_error",
			Error{Kind: KindInvalid, Status: 400}},
		{400, "Invalid value: 'what's a content filter?'", "invalid_request_error", Error{Kind: KindInvalid, Status: 400}},
		{400, "Invalid value: \"too many requests,\ntry again in 5s\"", "invalid_request_error",
			Error{Kind: KindInvalid, Status: 400}},
		{400, "Your credit balance is too low to access the Anthropic API.", "invalid_request_error",
			Error{Kind: KindAuth, Status: 400}},
		{400, "This model's maximum context length is 8192 tokens, that of 'x' isn't.", "invalid_request_error",
			Error{Kind: KindContextTooLong, Status: 400}},
		{400, "It triggered Azure OpenAI's content management policy.", "content_filter",
			Error{Kind: KindRefused, Status: 400}},
		{429, "Please try again in 5 seconds.", "", Error{Kind: KindRateLimited, Status: 429, RetryAfter: 5 * time.Second}},
		{429, "Please retry after 2 Minutes.", "", Error{Kind: KindRateLimited, Status: 429, RetryAfter: 2 * time.Minute}},
		{429, "Please try again in 20ms.", "x", Error{Kind: KindRateLimited, Status: 429, RetryAfter: 20 * time.Millisecond}},
		{408, "x", "", Error{Kind: KindTransient, Status: 408, MaybeCharged: true}},
		{502, "x", "", Error{Kind: KindTransient, Status: 502, MaybeCharged: true}},
		{504, "x", "", Error{Kind: KindTransient, Status: 504, MaybeCharged: true}},
		{524, "x", "", Error{Kind: KindTransient, Status: 524, MaybeCharged: true}},
		{503, "x", "", Error{Kind: KindTransient, Status: 503}},
	} {
		got := FromAnswer(c.status, 0, c.message, c.code)
		if c.want.Err = got.Err; *got != c.want || got.Err.Error() != c.message {
			t.Errorf("%s: got %+v, want %+v", c.message, *got, c.want)
		}
	}
}

// Some providers expect the key in the query of the URL.
func TestNoKeyOfQuery(t *testing.T) {
	t.Parallel()
	failed := &url.Error{Op: "Post", URL: "https://api.example.com/v1/chat?access_token=SECRET", Err: io.ErrUnexpectedEOF}
	err := classify(fmt.Errorf("do request: %w", failed))
	want := `the model: do request: Post "https://api.example.com/v1/chat?[query]": unexpected EOF`
	if err.Error() != want || !errors.Is(err, failed) {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// The text of a wrapping error, and the error that it wraps, are kept.
func TestCharged(t *testing.T) {
	t.Parallel()
	inner, gateway := &Error{Kind: KindAuth, Err: errors.New("no key")}, errors.New("gateway")
	for _, err := range []error{inner, fmt.Errorf("%w: %w", gateway, inner)} {
		got := Charged(err, true)
		if !MaybeCharged(got) || MaybeCharged(err) || got.Error() != err.Error() ||
			errors.Is(got, gateway) != errors.Is(err, gateway) {
			t.Errorf("got %#v of %v", got, err)
		}
		if Charged(err, false) != err {
			t.Errorf("%v was changed", err)
		}
	}
	if err := Charged(nil, true); err != nil {
		t.Errorf("got %v of nothing", err)
	}
}
