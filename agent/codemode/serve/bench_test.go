package serve_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// BenchmarkCall compares a call of a tool, over HTTP with a token, with the same call of the
// SDK's handler alone, for both kinds of protocol versions.
func BenchmarkCall(b *testing.B) {
	for _, version := range []string{newEra, oldEra} {
		b.Run(version, func(b *testing.B) {
			s := newWorks()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			auth, err := serve.Tokens([]byte(tokens))
			if err != nil {
				b.Fatal(err)
			}
			go func() {
				_ = serve.Run(b.Context(), s.server, &serve.Options{Transport: serve.HTTP, Listener: l, Auth: auth,
					Rate: -1})
			}()
			other := newWorks() // without the middleware of Run, which knows no principal here
			ada := func(*http.Request) *mcp.Server { return other.server(serve.Principal{Name: "ada"}) }
			bare := mcp.NewStreamableHTTPHandler(ada,
				&mcp.StreamableHTTPOptions{Stateless: version == newEra})
			raw := httptest.NewServer(bare)
			b.Cleanup(raw.Close)
			ours, theirs := connect(b, "http://"+l.Addr().String()+"/mcp", version), connect(b, raw.URL, version)
			var with, without []float64
			for b.Loop() {
				with = append(with, clock(b, ours))
				without = append(without, clock(b, theirs))
			}
			b.ReportMetric(median(with)/median(without), "x-raw")
			b.ReportMetric(median(with)/1000, "µs")
		})
	}
}

func connect(b *testing.B, url, version string) *mcp.ClientSession {
	b.Helper()
	carrier := &http.Transport{}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{adaToken, carrier}}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		session.Close()
		carrier.CloseIdleConnections()
	})
	return session
}

func clock(b *testing.B, session *mcp.ClientSession) float64 {
	b.Helper()
	begin := time.Now()
	if _, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo"}); err != nil {
		b.Fatal(err)
	}
	return float64(time.Since(begin))
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
