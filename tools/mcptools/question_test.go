package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking returns a server that asks n questions before it answers a call, and then returns the
// answers.
func asking(n int, method, params string) talker {
	var open wireMessage // the call
	var heard []string
	asked := 0
	ask := func(say func(string)) {
		asked++
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":%s}`, asked, method, params))
	}
	return func(m wireMessage, say func(string)) {
		switch {
		case m.Method == "tools/call":
			open, asked, heard = m, 0, nil
			ask(say)
		case m.Method == "" && asked < n:
			ask(say)
		case m.Method == "":
			heard = append(heard, string(m.Result)+string(m.Error))
			say(open.text(strings.Join(heard, " ")))
		}
	}
}

const (
	question = `{"message":"Sure?","requestedSchema":{"type":"object","properties":{"sure":{"type":"boolean"}}}}`
	prompt   = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5}`
)

func say(_ context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"sure": server + p.Message}}, nil
}

func agree(context.Context, string, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"sure": true}}, nil
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, method, params string
		o                    *Options
		want                 string
	}{
		{"elicit", "elicitation/create", question, &Options{OnElicit: agree}, `{"action":"accept","content":{"sure":true}}`},
		{"a wrong answer", "elicitation/create", question, &Options{OnElicit: say},
			`{"code":-32602,"message":"elicitation result content does not match requested schema: validating root: ` +
				`validating /properties/sure: type: sSure? has type \"string\", want \"boolean\""}`},
		{"nobody", "elicitation/create", question, nil, `{"code":-32602,"message":"client does not support elicitation"}`},
		{"no answer", "elicitation/create", question,
			&Options{OnElicit: func(context.Context, string, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return nil, nil
			}}, `{"code":0,"message":"the client gave no answer"}`},
		{"an address", "elicitation/create",
			`{"mode":"url","message":"Log in.","url":"https://example.com","elicitationId":"1"}`,
			&Options{OnElicit: func(_ context.Context, _ string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				if p.Mode != "url" {
					return nil, errors.New("wrong mode")
				}
				return &mcp.ElicitResult{Action: "decline"}, nil
			}}, `{"action":"decline"}`},
		{"no model", "sampling/createMessage", prompt, nil,
			`{"code":-31001,"message":"client does not support CreateMessage"}`},
		{"no roots", "roots/list", `{}`, nil, `{"roots":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := servePipe(t, c.o, asking(1, c.method, c.params).run)
			var got string
			_ = json.Unmarshal([]byte(call(t.Context(), list(t, s)["t"], `{}`)), &got)
			equal(t, "the server hears", got, c.want)
		})
	}
}

// The server is not offered what has no callback.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    *Options
		want string
	}{
		{nil, `{}`},
		{&Options{OnElicit: agree}, `{"elicitation":{"form":{},"url":{}}}`},
	} {
		var got string
		serve(t, script{"initialize": func(params json.RawMessage) string {
			var p struct{ Capabilities json.RawMessage }
			_ = json.Unmarshal(params, &p)
			got = string(p.Capabilities)
			return `"result":` + hello
		}}, c.o)
		equal(t, "capabilities", got, c.want)
	}
}

// The number of questions is bounded until the server responds to a call.
func TestEndlessQuestions(t *testing.T) {
	t.Parallel()
	asked := 0
	s := servePipe(t, &Options{OnElicit: func(ctx context.Context, server string,
		p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		asked++ // one after the other
		return agree(ctx, server, p)
	}}, asking(50, "elicitation/create", question).run)
	tool := list(t, s)["t"]
	for range 2 {
		var got string
		_ = json.Unmarshal([]byte(call(t.Context(), tool, `{}`)), &got)
		equal(t, "the last answer", got,
			`{"code":0,"message":"more than 20 questions without a response to a call; no more are answered"}`)
	}
	equal(t, "asked", fmt.Sprint(asked), "40")
}

// In the newer protocol, a result can be a question, and the request is repeated with the
// answer.
func TestModernQuestions(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "memory", Version: "1"}, nil)
	add := func(name string, endless bool) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if answer, ok := r.Params.InputResponses["q"].(*mcp.ElicitResult); ok && !endless {
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer.Action}}}, nil
				}
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Mode: "form",
					Message: "Sure?"}}}, nil
			})
	}
	add("once", false)
	add("always", true)
	s := inProcess(t, server, &Options{OnElicit: agree})
	named := list(t, s)
	equal(t, "version", s.Status()[0].ProtocolVersion, "2026-07-28")
	equal(t, "once", call(t.Context(), named["once"], `{}`), `"accept"`)
	equal(t, "always", call(t.Context(), named["always"], `{}`),
		"failed: the tool asked its client a question, which cannot be answered here")
	equal(t, "once more", call(t.Context(), named["once"], `{}`), `"accept"`)
}

// A server that makes too many requests at once is disconnected.
func TestFloodOfQuestions(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := servePipe(t, &Options{OnElicit: func(ctx context.Context, server string,
		p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		<-release
		return agree(ctx, server, p)
	}}, talker(func(m wireMessage, say func(string)) {
		if m.Method == "tools/call" {
			for i := range 100 {
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":%s}`, i, question))
			}
		}
	}).run)
	got := call(t.Context(), list(t, s)["t"], `{}`)
	close(release)
	equal(t, "call", got, "unknown: the connection to the tool's server was lost; whether the call took effect is unknown")
	<-current(s).gone
	equal(t, "status", brief(s),
		`s failed 2025-11-25, 1 tools, 0 restarts: mcp server "s" made more than 64 requests at once, so its `+
			`connection was closed; call Connect again`)
}
