package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// azure is Azure's gate before a stub. It takes a key in its own header, or a bearer token, and knows the paths of its
// API's versions.
func azure(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	handle := func(path, version string) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			switch key := r.Header.Get("Api-Key"); {
			case r.URL.Query().Get("api-version") != version:
				http.Error(w, `{"error":{"code":"404","message":"Resource not found"}}`, http.StatusNotFound)
			case key == "" && r.Header.Get("Authorization") == "Bearer entra":
				r.Header.Set("Authorization", "Bearer test-key")
				fallthrough
			case key == "test-key" && r.Header.Get("Authorization") == "":
				next.ServeHTTP(w, r)
			default:
				http.Error(w,
					`{"error":{"code":"401","message":"Access denied due to `+r.Header.Get("Authorization")+`."}}`,
					http.StatusUnauthorized)
			}
		})
	}
	handle("/openai/v1/chat/completions", "")
	handle("/openai/v1/responses", "")
	handle("/gateway/openai/v1/responses", "preview")
	handle("/openai/deployments/mine/chat/completions", "2024-10-21")
	return mux
}

func (m *Model) header() http.Header { return m.client.Header }

func TestAzure(t *testing.T) {
	t.Parallel()
	entra := func(context.Context) (string, error) { return "entra", nil }
	for _, test := range []struct {
		name, path, key string
		token           func(context.Context) (string, error)
		responses       bool
		want            string // "" or an error
	}{
		{"a key", "", "test-key", nil, false, ""},
		{"a key for responses", "/", "test-key", nil, true, ""},
		{"a token", "", "another", entra, false, ""},
		{"a token for responses", "/openai/v1/", "", entra, true, ""},
		{"a preview", "/gateway/openai/v1?api-version=preview", "test-key", nil, true, ""},
		{"an older version", "/openai/deployments/mine?api-version=2024-10-21", "test-key", nil, false, ""},
		{"an older version without deployments", "/?api-version=2024-10-21", "test-key", nil, false, "the model: " +
			"azure " +
			"answered 404 Not Found: Resource not found; check the model name and the base URL"},
		{"a wrong key", "", "another", nil, false, "the model's provider refuses access: azure answered 401 " +
			"Unauthorized: " +
			"Access denied due to .; check the key in AZURE_OPENAI_API_KEY"},
		{"a wrong token", "", "", func(context.Context) (string, error) { return "secret", nil }, false, "the " +
			"model's " +
			"provider refuses access: azure answered 401 Unauthorized: Access denied due to Bearer [key].; check " +
			"the key in " +
			"OpenOptions.Token"},
		{"no token", "", "", func(context.Context) (string, error) { return "", errors.New("no identity") }, true,
			"the model's provider refuses access: cannot get credentials for azure-responses: no identity"},
		{"no token now", "", "", func(context.Context) (string, error) {
			return "", &lm.Error{Kind: lm.KindTransient, Err: errors.New("try again")}
		}, true, "the model: try again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inner := stub.OpenAI(nil, stub.Reply{Text: "Hi."})
			if test.responses {
				inner = stub.Responses(nil, stub.Reply{Text: "Hi."})
			}
			server := httptest.NewServer(azure(inner))
			defer server.Close()
			o := &wire.Options{Key: test.key, Token: test.token, BaseURL: server.URL + test.path, Dialect: "azure"}
			var m llms.Model
			var err error
			if test.responses {
				o.Dialect += "-responses"
				m, err = NewResponses("mine", o)
			} else {
				m, err = New("mine", o)
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := llms.GenerateFromSinglePrompt(t.Context(), m, "Hello?")
			if header := m.(interface{ header() http.Header }).header(); header.Get("Authorization") != "" {
				t.Error("the token is kept")
			}
			if test.want != "" {
				same(t, "error", fmt.Sprint(err), test.want)
			} else if err != nil || text != "Hi." || sent(t, inner)["model"] != "mine" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

func TestAzureWithoutURL(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "the model: AZURE_OPENAI_ENDPOINT is not set; set it to the resource's endpoint, such as " +
			"https://NAME.openai.azure.com, or pass it as the base URL",
		"mine.openai.azure.com": "the model: the base URL is not valid; pass one such as " +
			"https://api.example.com/v1, with " +
			"its scheme and without a query",
		"https://mine.openai.azure.com?x=y": "the model: the base URL is not valid; pass one such as " +
			"https://api.example.com/v1, with its scheme and without a query",
	} {
		_, err := New("m", &wire.Options{Dialect: "azure", BaseURL: base, Key: "k"})
		same(t, base, fmt.Sprint(err), want)
	}
}
