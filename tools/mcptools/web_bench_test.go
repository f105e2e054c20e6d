package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCallOverHTTP compares a call with the same call over the SDK's transport alone.
func BenchmarkCallOverHTTP(b *testing.B) {
	for _, size := range []int{100, 1 << 20} {
		b.Run(fmt.Sprint(size, " bytes"), func(b *testing.B) {
			text := `{"text":"` + strings.Repeat("x", size) + `"}`
			web := httptest.NewServer(script{"tools/call": result(`{"structuredContent":` + text + `}`)}.handler(asEvents, nil))
			defer web.Close()
			servers, err := Start(b.Context(), &Config{Servers: []ServerConfig{{Name: "s", URL: web.URL}}}, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer servers.Close()
			all, err := servers.Tools(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "raw", Version: "1"}, nil)
			session, err := client.Connect(b.Context(),
				&mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: &http.Client{}}, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer session.Close()
			var ours, raw []float64
			for b.Loop() {
				ours = append(ours, clock(b, func(ctx context.Context) error {
					_, err := all[0].Handler(ctx, json.RawMessage(`{}`))
					return err
				}))
				raw = append(raw, clock(b, func(ctx context.Context) error {
					_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "t"})
					return err
				}))
			}
			b.ReportMetric(median(ours)/median(raw), "x-raw")
		})
	}
}

func clock(b *testing.B, f func(context.Context) error) float64 {
	start := time.Now()
	if err := f(b.Context()); err != nil {
		b.Fatal(err)
	}
	return float64(time.Since(start))
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
