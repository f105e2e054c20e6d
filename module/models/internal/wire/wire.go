// Package wire is shared by the providers of models. It posts JSON, reads replies and streams
// within limits, and turns every failure into an *[lm.Error].
package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/keepalive"
	"github.com/writ-go/writ/module/internal/lm"
)

// Limits of replies. The longest replies of today's models are below a megabyte.
const (
	maxBody     = 8 << 20   // bytes in a reply, or in a line of a stream
	maxStream   = 256 << 20 // bytes in a stream; a piece's frame can be a hundred times its text
	maxReply    = 4 << 20   // bytes of a streamed reply; some servers send reasoning twice
	maxElements = 1 << 18   // commas outside strings in a body or a line: each may become a Go value
	maxObjects  = 4096      // objects in a line: each may be compared with the objects of earlier lines
)

// Options are a provider's options. models.OpenOptions documents them.
type Options struct {
	Key, BaseURL string
	Client       *http.Client
	MaxTokens    int
	Context      int // for Ollama
	Extra        map[string]any
	Dialect      string // the provider, for the dialect of OpenAI's protocol

	// Project and Location are those of Vertex AI.
	Project, Location string
	Token             func(context.Context) (string, error)
}

// Invalid returns the error for a request that cannot be sent.
func Invalid(format string, args ...any) error {
	return &lm.Error{Kind: lm.KindInvalid, Err: fmt.Errorf(format, args...)}
}

// Client posts to one provider. It is safe for concurrent use.
type Client struct {
	Provider string         // names the provider in errors, such as "openai"
	Variable string         // the key's environment variable, for errors
	BaseURL  string         // has no slash at its end
	Header   http.Header    // added to every request
	Key      string         // removed from error messages
	HTTP     *http.Client   // nil means a client without a timeout that follows no redirects
	Extra    map[string]any // merged into every request; see [Client.Post]

	// Authorize, if set, adds the credentials to each request. It returns the secret to remove from error messages.
	Authorize func(r *http.Request, body []byte) (secret string, err error)
}

// NewClient returns a client with the key and the URL from the options or, without them, the key from the environment
// variable and the default URL. Without a key, it returns an error unless the server is local.
func NewClient(provider, variable, defaultURL string, local bool, o *Options) (Client, error) {
	c := Client{
		Provider: provider, Variable: variable, BaseURL: cmp.Or(o.BaseURL, defaultURL), Header: http.Header{},
		Key: cmp.Or(strings.TrimSpace(o.Key), strings.TrimSpace(os.Getenv(variable))), HTTP: o.Client, Extra: o.Extra,
	}
	if o.Token != nil {
		c.Key, c.Variable = "", "OpenOptions.Token"
		c.Authorize = func(r *http.Request, _ []byte) (string, error) {
			token, err := o.Token(r.Context())
			r.Header.Set("Authorization", "Bearer "+token)
			return token, err
		}
	} else if c.Key == "" && !local {
		return c, &lm.Error{Kind: lm.KindAuth, Err: fmt.Errorf("%s is not set; set it or pass a key", variable)}
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery+u.Fragment != "" {
		// The URL is not quoted, because it may contain a password.
		return c, Invalid("the base URL is not valid; pass one such as https://api.example.com/v1, with its scheme " +
			"and without a query")
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.Key != "" {
		c.Header.Set("Authorization", "Bearer "+c.Key)
	}
	return c, nil
}

// Post sends body as JSON to a path below BaseURL and returns the response if its status is 2xx. The caller closes it.
// Client.Extra takes precedence over body: objects are merged, other values are replaced, and nil removes a member.
func (c *Client) Post(ctx context.Context, path string, body map[string]any) (*Answer, error) {
	data, err := jsonvalue.Marshal(merged(body, c.Extra))
	if err != nil {
		return nil, Invalid("cannot encode the request to %s: %w", c.Provider, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.BaseURL+path, bytes.NewReader(data))
	if err != nil {
		return nil, Invalid("cannot make a request to %s: %w", c.Provider, unquoted(err))
	}
	maps.Copy(r.Header, c.Header)
	r.Header.Set("Content-Type", "application/json")
	if c.Authorize != nil {
		if c, err = c.authorized(r, data); err != nil {
			return nil, err
		}
	}
	response, err := c.http().Do(r)
	if err != nil {
		return nil, c.broken(ctx, err, "cannot reach "+c.Provider+": %w; check the network and the base URL")
	}
	if response.StatusCode/100 != 2 {
		defer response.Body.Close()
		return nil, c.refused(response)
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		defer response.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
		return nil, c.strange("%s; check the base URL", page(c.withoutKey(body)))
	}
	return &Answer{Header: response.Header, client: c, body: response.Body}, nil
}

// authorized adds the credentials to a request, and returns a client that removes them from error messages.
func (c *Client) authorized(r *http.Request, body []byte) (*Client, error) {
	secret, err := c.Authorize(r, body)
	if r.Context().Err() != nil {
		return nil, lm.CancelledBy(r.Context())
	}
	if _, ok := errors.AsType[*lm.Error](err); ok {
		return nil, err
	}
	if err != nil {
		e := &lm.Error{Kind: lm.KindAuth, Err: fmt.Errorf("cannot get credentials for %s: %w", c.Provider, err)}
		if _, network := errors.AsType[net.Error](err); network {
			e.Kind = lm.KindTransient
		}
		return nil, e
	}
	with := *c
	with.Key = secret
	return &with, nil
}

// merged returns body with extra merged into it; neither is changed.
func merged(body, extra map[string]any) map[string]any {
	if len(extra) == 0 {
		return body
	}
	all := maps.Clone(body)
	for name, value := range extra {
		ours, _ := all[name].(map[string]any)
		theirs, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(all, name)
		case isObject && ours != nil:
			all[name] = merged(ours, theirs)
		default:
			all[name] = value
		}
	}
	return all
}

func (c *Client) http() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return &http.Client{
		Transport:     keepalive.Transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Answer is an HTTP response with status 2xx. If reading it fails, the call may have been charged.
type Answer struct {
	Header http.Header
	Size   int  // bytes in a streamed reply so far; set by the stream's reader
	Echoes bool // events repeat the request's tools, so that they may have many objects
	client *Client
	body   io.ReadCloser
}

// Close closes the connection if the response was not read to its end.
func (a *Answer) Close() { _ = a.body.Close() }

// Decode reads the response as one JSON value. If the response contains an error, Decode
// returns it, despite the status.
func (a *Answer) Decode(ctx context.Context, into any) error {
	data, err := io.ReadAll(io.LimitReader(a.body, maxBody+1))
	if err != nil {
		return a.client.broken(ctx, err, "the reply broke off: %w")
	}
	if len(data) > maxBody || crowded(data, maxElements) {
		return a.client.strange("a reply that is too large: more than %d bytes or %d elements", maxBody, maxElements)
	}
	if err := a.client.failureIn(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return a.client.notJSON(data, err)
	}
	return nil
}

// crowded reports whether data has at least maxElements elements or more than maxObjects objects.
func crowded(data []byte, maxObjects int) bool {
	commas, objects := jsonvalue.Count(data)
	return commas >= maxElements || objects > maxObjects
}
