//go:build integration

// Package conformance runs the official conformance suite against the client, tools/mcptools, and
// the server, examples/mcpserver. The suite starts this test binary as its client, which calls every
// tool once.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
)

func TestMain(m *testing.M) {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], "http") {
		os.Exit(m.Run())
	}
	// The suite started this process and appended the address of its server.
	log.SetFlags(0)
	given, err := readGiven(os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err == nil {
		err = run(context.Background(), os.Args[1], os.Getenv("MCP_CONFORMANCE_SCENARIO"), given)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// given is the input of the client in a scenario.
type given struct {
	ToolCalls []toolCall `json:"toolCalls"`
	credentials
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func readGiven(text string) (g given, err error) {
	if text == "" {
		return g, nil
	}
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return g, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	return g, nil
}

func run(ctx context.Context, url, scenario string, g given) error {
	o := &mcptools.Options{
		OnElicit: accept,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if strings.HasPrefix(scenario, "auth/") {
		handler, err := authorization(ctx, url, g.credentials)
		if err != nil {
			return err
		}
		o.OAuth = func(mcptools.ServerConfig) auth.OAuthHandler { return handler }
	}
	config := &mcptools.Config{Servers: []mcptools.ServerConfig{{Name: "suite", URL: url}}}
	servers, err := mcptools.Start(ctx, config, o)
	if err != nil {
		return err
	}
	defer servers.Close()
	list, err := servers.Tools(ctx)
	if err != nil {
		return err
	}
	return callAll(mcptools.WithProgress(ctx, func(mcptools.Progress) {}), list, g.ToolCalls)
}

// callAll makes the calls of the scenario, or calls each tool once. The suite judges the results;
// callAll returns an error only if a call could not be made.
func callAll(ctx context.Context, list []*tools.Tool, calls []toolCall) error {
	named := map[string]*tools.Tool{}
	for _, t := range list {
		named[t.Name] = t
	}
	if calls == nil {
		for _, t := range list {
			calls = append(calls, toolCall{t.Name, arguments(t.Name, named)})
		}
	}
	for _, c := range calls {
		t := named[c.Name]
		if t == nil {
			log.Printf("%s: no such tool was listed", c.Name)
			continue
		}
		result, err := t.Handler(ctx, c.Arguments)
		log.Printf("%s(%s): %s %v", c.Name, c.Arguments, result, err)
		if failed := (*tools.ToolError)(nil); errors.As(err, &failed) && failed.Kind == tools.KindUnavailable {
			return err
		}
	}
	return nil
}

// arguments returns the arguments that the suite expects for its tools.
func arguments(name string, named map[string]*tools.Tool) json.RawMessage {
	switch name {
	case "add_numbers":
		return json.RawMessage(`{"a":5,"b":3}`)
	case "json_schema_echo":
		if t := named["json_schema_2020_12_tool"]; t != nil {
			return json.RawMessage(`{"schema":` + string(t.InputSchema) + `}`)
		}
	}
	return json.RawMessage(`{"region":"us-west1"}`)
}

// accept leaves forms empty, so that their defaults apply, and confirms what is to be confirmed.
func accept(_ context.Context, _ string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	content := map[string]any{}
	if schema, ok := p.RequestedSchema.(map[string]any); ok {
		if properties, ok := schema["properties"].(map[string]any); ok && properties["confirmed"] != nil {
			content["confirmed"] = true
		}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}
