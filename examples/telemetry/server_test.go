package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/writ-go/writ/agent/codemode"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
)

// An MCP server whose metrics Prometheus can collect. Any client that reaches /metrics can read them.
func Example_server() {
	reader, err := prometheus.New()
	if err != nil {
		log.Fatal(err)
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	server, err := codemode.New(&codemode.Options{MeterProvider: meters})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	h, err := server.Handler(nil)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.Handle("/metrics", promhttp.Handler())
	web := httptest.NewServer(mux) // or http.ListenAndServe
	defer web.Close()

	session, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(context.Background(),
		&mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp", DisableStandaloneSSE: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	_, err = session.CallTool(context.Background(), &mcp.CallToolParams{
		Name: "execute_code", Arguments: map[string]any{"code": "1 + 1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	response, err := http.Get(web.URL + "/metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "# TYPE mcp_") || strings.HasPrefix(line, "# TYPE writ_") {
			fmt.Print(line)
		}
	}
	// Output:
	// # TYPE mcp_server_operation_duration_seconds histogram
	// # TYPE writ_queue_call_duration_seconds histogram
	// # TYPE writ_queue_running gauge
	// # TYPE writ_queue_wait_duration_seconds histogram
	// # TYPE writ_queue_waiting gauge
}
