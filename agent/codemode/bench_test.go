package codemode

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/sandbox"
)

// BenchmarkExecute compares execute_code, as a client calls it through pipes, with
// the sandbox alone. x-raw is the median of the ratios, taken in turn.
func BenchmarkExecute(b *testing.B) {
	s, err := New(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	input, toServer := io.Pipe()
	fromServer, output := io.Pipe()
	go func() { _ = s.Serve(context.Background(), &serve.Options{In: input, Out: output}) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	call := &mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": "6 * 7"}}
	var ratios []float64
	for b.Loop() {
		began := time.Now()
		if _, err := s.box.Run(b.Context(), sandbox.Program{Source: "6 * 7"}); err != nil {
			b.Fatal(err)
		}
		raw := time.Since(began)
		began = time.Now()
		if _, err := session.CallTool(b.Context(), call); err != nil {
			b.Fatal(err)
		}
		ratios = append(ratios, float64(time.Since(began))/float64(raw))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
}
