package web

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/writ-go/writ/internal/keepalive"
	"github.com/writ-go/writ/tools/internal/origin"
)

// dialer fails to reach anything.
type dialer struct{ err error }

func (d dialer) RoundTrip(*http.Request) (*http.Response, error) { return nil, d.err }

// If the transport does not tell whether it sent a request, the effect is unknown.
func TestUnknownTransport(t *testing.T) {
	t.Parallel()
	u, err := url.Parse("http://127.0.0.1/mcp?key=s3cret")
	if err != nil {
		t.Fatal(err)
	}
	e := newEndpoint(&Config{URL: u, Secrets: &origin.Secrets{}, Client: &http.Client{Transport: dialer{net.ErrClosed}}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.shown(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.RoundTrip(req)
	failed, ok := errors.AsType[*Error](err)
	if !ok || !failed.unknown || !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// Without a transport of the caller, idle connections are kept for all concurrent calls.
func TestEndpointKeepsConnections(t *testing.T) {
	t.Parallel()
	e := newEndpoint(&Config{URL: &url.URL{Scheme: "http", Host: "127.0.0.1"}, Secrets: &origin.Secrets{}})
	if e.next != keepalive.Transport() {
		t.Error("another transport")
	}
}
