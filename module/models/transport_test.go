package models_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/writ-go/writ/module/models"
)

// idle is a transport that counts.
type idle struct {
	http.RoundTripper
	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

// The client's connections can be closed through the transport.
func TestCloseIdleConnections(t *testing.T) {
	t.Parallel()
	base := &idle{}
	client := &http.Client{Transport: &models.Transport{Base: base}}
	client.CloseIdleConnections()
	(&http.Client{Transport: &models.Transport{Base: http.NewFileTransport(http.Dir("."))}}).CloseIdleConnections()
	if base.closed != 1 {
		t.Errorf("closed %d times", base.closed)
	}
}

// The key that a provider complains of does not get into the error.
func TestKeyInError(t *testing.T) {
	t.Parallel()
	eachProvider(t, func(t *testing.T, p provider) {
		s := serve(t, fails(401, nil, `{"type":"error","error":{"message":"Incorrect API key provided: sk-secret1.","type":"authentication_error"}}`))
		var model llms.Model
		var err error
		client := &http.Client{Transport: &models.Transport{}}
		if p == openAI {
			model, err = openai.New(openai.WithToken("sk-secret1"), openai.WithModel("m"), openai.WithBaseURL(s.URL), openai.WithHTTPClient(client))
		} else {
			model, err = anthropic.New(anthropic.WithToken("sk-secret1"), anthropic.WithModel("m"), anthropic.WithBaseURL(s.URL), anthropic.WithHTTPClient(client))
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = ask(t.Context(), model)
		if e := failure(t, err); e.Kind != models.Auth || !strings.HasSuffix(err.Error(), "status code: 401: Incorrect API key provided: [key].") {
			t.Errorf("got %v", err)
		}
	})
}

// An error that is complete is not waited for to end.
func TestErrorBodyStaysOpen(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fails(429, nil, `{"error":{"message":"Slow down."}}`+"\n")(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	_, err := ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}))
	if e := failure(t, err); e.Kind != models.RateLimited || err.Error() != "the model's rate limit is reached: API returned unexpected status code: 429: Slow down." {
		t.Errorf("got %v", err)
	}
}

// Of the headers that ask to wait, one that says nothing hides no other.
func TestRetryAfterHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{"Retry-After-Ms": {"0"}, "Retry-After": {"7"}}, 7 * time.Second},
		{http.Header{"Retry-After-Ms": {"NaN"}, "Retry-After": {"7"}}, 7 * time.Second},
		{http.Header{"Retry-After": {"Fri, 31 Dec 9999 23:59:59 GMT"}}, 365 * 24 * time.Hour},
		{http.Header{"Retry-After": {"-5"}}, 0},
	} {
		s := serve(t, fails(429, c.header, `{}`))
		_, err := ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}))
		if e := failure(t, err); e.RetryAfter != c.want {
			t.Errorf("%v: got %s, want %s", c.header, e.RetryAfter, c.want)
		}
	}
}

// A provider that panics at an answer is an error.
func TestProviderPanics(t *testing.T) {
	t.Parallel()
	s := serve(t, says(`{"choices":[null]}`))
	_, err := ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}))
	if e := failure(t, err); e.Kind != models.Unknown || !e.MaybeCharged || !strings.HasPrefix(err.Error(), "the model: it panicked: runtime error: invalid memory address or nil pointer dereference") {
		t.Errorf("got %v", err)
	}
}
