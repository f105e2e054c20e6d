// Conformance is the client that the official conformance suite starts to test
// what tools/mcptools does on the wire. The suite appends the address of its
// server:
//
//	conformance client --command /path/to/this --suite all
//
// It behaves as a program would that calls every tool once: the suite watches
// from the other side.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: conformance URL; the suite starts this")
	}
	given, err := readGiven(os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err == nil {
		err = run(context.Background(), os.Args[1], os.Getenv("MCP_CONFORMANCE_SCENARIO"), given)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// given is what a scenario tells its client.
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
		OnElicit:   accept,
		OnProgress: func(context.Context, mcptools.Progress) {},
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if strings.HasPrefix(scenario, "auth/") {
		handler, err := authorization(ctx, url, g.credentials)
		if err != nil {
			return err
		}
		o.OAuth = map[string]auth.OAuthHandler{"suite": handler}
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
	return callAll(ctx, list, g.ToolCalls)
}

// callAll makes the calls that the scenario asks for, or one of each tool. What a
// tool answers is for the suite to judge; only a failure to reach it is ours.
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

// arguments are those with which the suite wants its tools to be called.
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

// accept fills in no form, so that the defaults hold, and says yes to what is only
// to be confirmed.
func accept(_ context.Context, _ string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	content := map[string]any{}
	if schema, ok := p.RequestedSchema.(map[string]any); ok {
		if properties, ok := schema["properties"].(map[string]any); ok && properties["confirmed"] != nil {
			content["confirmed"] = true
		}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}
