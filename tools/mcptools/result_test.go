package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
)

const typedTool = `{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object",` +
	`"properties":{"n":{"type":"integer"}},"required":["n"]}}]}`

func TestResults(t *testing.T) {
	t.Parallel()
	text := func(texts ...string) string {
		blocks := make([]string, len(texts))
		for i, s := range texts {
			blocks[i] = `{"type":"text","text":` + jsonvalue.Text(s) + `}`
		}
		return `"content":[` + strings.Join(blocks, ",") + `]`
	}
	for _, c := range []struct{ name, result, untyped, typed string }{
		{"text", text("hi <b>"), `"hi <b>"`, notJSON + ` "hi <b>"`},
		{"several texts", text("a", "b"), `"a\nb"`, notJSON + ` "a\nb"`},
		{"text that is the declared JSON", text(` {"n": 1} `), `" {\"n\": 1} "`, `{"n": 1}`},
		{"text that is other JSON", text(`{"n": "1"}`), `"{\"n\": \"1\"}"`, mismatch +
			`n must be an integer, not "1" {"n": "1"}`},
		{"text that looks like JSON", text("007"), `"007"`, notJSON + ` "007"`},
		{"structured", text(`{"n":1}`) + `,"structuredContent":{"z":1,"n":9007199254740993}`,
			`{"text":"{\"n\":1}","data":{"z":1,"n":9007199254740993}}`, `{"z":1,"n":9007199254740993}`},
		{"structured, and the same as text", text(`{"a": [1.50], "n":2}`) + `,"structuredContent":{"n":2,"a":[1.50]}`,
			`{"n":2,"a":[1.50]}`, `{"n":2,"a":[1.50]}`},
		{"structured, violating", `"structuredContent":{"m":1}`, `{"m":1}`, mismatch +
			`n is required {"m":1}`},
		{"structured only", `"structuredContent":{"n":2},"content":[]`, `{"n":2}`, `{"n":2}`},
		{
			"structured and an image",
			`"structuredContent":{"n":2},"content":[{"type":"text","text":"see"},{"type":"image","data":"aGk=",` +
				`"mimeType":"image/png"}]`,
			`{"text":"see","data":{"n":2},"blocks":[{"type":"text","text":"see"},{"type":"image","data":"aGk=",` +
				`"mimeType":"image/png"}]}`, `{"n":2}`,
		},
		{"structured null", text("a") + `,"structuredContent":null`, `"a"`, notJSON + ` "a"`},
		{
			"an image", `"content":[{"type":"text","text":"see"},{"type":"image","data":"aGk=","mimeType":"image/png"}]`,
			`[{"type":"text","text":"see"},{"type":"image","data":"aGk=","mimeType":"image/png"}]`, notJSON + ` "see"`,
		},
		{
			"a block of an unknown type", `"content":[{"type":"hologram","x":12345678901234567890}]`,
			`[{"type":"hologram","x":12345678901234567890}]`, notJSON,
		},
		{"no content", `"content":[]`, `""`, notJSON},
		{"null content", `"content":null`, `""`, notJSON},
		{"nothing", ``, `""`, notJSON},
		{"malformed", `"content":"text"`, malformed, malformed},

		{"an error", text("no such order") + `,"isError":true`, `failed: no such order`, `failed: no such order`},
		{
			"an error with data", `"isError":true,"structuredContent":{"code":7}`,
			`failed: the tool failed and gave no reason {"code":7}`, `failed: the tool failed and gave no reason {"code":7}`,
		},
		{
			"an error of the tool in the same form", text("MCP error -32602: the card was charged; the address is bad") +
				`,"isError":true`,
			`failed: the card was charged; the address is bad`, `failed: the card was charged; the address is bad`,
		},
		{
			"another code in the same form", text("MCP error -32601: Method not found") + `,"isError":true`,
			`failed: Method not found`, `failed: Method not found`,
		},
		{"keys in other cases", text("yes") + `,"Content":[],"ISERROR":true,"structuredcontent":{"n":1}`, `"yes"`, notJSON +
			` "yes"`},
		{"keys of a block in other cases", `"content":[{"type":"text","text":"yes","TEXT":"no"}]`, `"yes"`, notJSON +
			` "yes"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answer := result("{" + c.result + "}")
			untyped := serve(t, script{"tools/call": answer}.whole(), nil)
			equal(t, "untyped", call(t.Context(), list(t, untyped)["t"], `{}`), c.untyped)
			typed := serve(t, script{"tools/call": answer, "tools/list": result(typedTool)}.whole(), nil)
			equal(t, "typed", call(t.Context(), list(t, typed)["t"], `{}`), c.typed)
		})
	}
}

const (
	notJSON = `invalid_result: the call was made, but its result does not match the output schema: there is no ` +
		`structured content, and the text is not JSON`
	mismatch  = `invalid_result: the call was made, but its result does not match the output schema: `
	malformed = `invalid_result: the call was made, but its result is malformed: content: must be an array, not string`
)

const maxText = 16 << 10 // bytes of an error

func TestLongErrorsAreTruncated(t *testing.T) {
	t.Parallel()
	s := serve(t, script{"tools/call": result(`{"isError":true,"content":[{"type":"text","text":"` +
		strings.Repeat("é", 20_000) + `"}]}`)}, nil)
	equal(t, "error", call(t.Context(), list(t, s)["t"], `{}`), "failed: "+strings.Repeat("é", maxText/2-2)+"…")
}

// The limits of results apply to errors too.
func TestLargeErrorsAreBounded(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("y", 20_000)
	i := 0
	f := script{"tools/call": func(json.RawMessage) string {
		i++
		return []string{
			`"error":{"code":-32000,"message":"` + big + `","data":"` + big + `"}`,
			`"result":{"isError":true,"structuredContent":{"a":"` + big + `"},"content":[]}`,
		}[i%2]
	}}
	for name, config := range map[string]string{"json": serveWeb(t, f.handler(asJSON, nil)),
		"events": serveWeb(t, f.handler(asEvents, nil)), "pipe": ""} {
		o := &Options{MaxResult: 1000}
		s := serve(t, f, o)
		if config != "" {
			s = open(t, ServerConfig{URL: config}, o)
		}
		tool := list(t, s)["t"]
		i = 0
		equal(t, name, call(t.Context(), tool, `{}`), "failed: the tool failed and gave no reason")
		_, err := tool.Handler(t.Context(), json.RawMessage(`{}`))
		te, _ := err.(*tools.ToolError)
		equal(t, name, te.Message, big[:maxText-len("…")]+"…")
		equal(t, name, string(te.Data), "")
		if cause := errors.Unwrap(te).Error(); len(cause) > 2*maxText {
			t.Errorf("%s: the cause has %d bytes", name, len(cause))
		}
	}
}

// If an output schema does not compile, results are not checked.
func TestInvalidOutputSchema(t *testing.T) {
	t.Parallel()
	for schema, reason := range map[string]string{
		`{"type":"object","properties":{"n":{"type":"int"},"s":{"type":"string"}}}`: `properties.n.type must be one of ` +
			`"array", "boolean", "integer", "null", "number", "object", "string", not "int"`,
		`{"$ref":"https://example.com/a.json"}`: `refers to "https://example.com/a.json", which is not loaded; copy it ` +
			`into $defs`,
		strings.Repeat(`{"not":`, 201) + `{}` + strings.Repeat(`}`, 201): `is nested deeper than 200`,
	} {
		s := serve(t, script{
			"tools/list": result(`{"tools":[{"name":"t","outputSchema":` + schema + `}]}`),
			"tools/call": result(`{"structuredContent":{"n":1,"s":2}}`),
		}, nil)
		tool := list(t, s)["t"]
		equal(t, "declared", string(tool.OutputSchema), schema)
		equalLines(t, "warnings before a call", s.Warnings())
		equal(t, "result", call(t.Context(), tool, `{}`), `{"n":1,"s":2}`)
		equalLines(t, "warnings", s.Warnings(),
			`mcp server "s": results of tool "t" are not checked: output schema: schema: `+reason)
	}
}

// What an error says about the call depends on its text alone, whether it comes as a result or as a JSON-RPC error, and
// whatever its code: servers report with the same codes what went wrong before, during and after the call.
func TestReportedErrors(t *testing.T) {
	t.Parallel()
	const (
		arguments = "Invalid arguments for tool t: path is required"
		noOutput  = "Tool t has an output schema but no structured content was provided"
		badOutput = "Invalid structured content for tool t: n must be a number"
		refused   = "invalid_result: the call was made, but the server refused its result: "
	)
	for text, want := range map[string]string{
		// TypeScript
		"Tool t not found": "unknown_tool: Tool t not found",
		"Tool t disabled":  "unknown_tool: Tool t disabled",
		"Tool t requires task augmentation (taskSupport: 'required')": "unknown_tool: " +
			"Tool t requires task augmentation (taskSupport: 'required')",
		arguments:                              "invalid_arguments: " + arguments,
		"Input validation error: " + arguments: "invalid_arguments: Input validation error: " + arguments,
		noOutput:                               refused + noOutput,
		badOutput:                              refused + badOutput,
		"Output validation error: " + noOutput: refused + "Output validation error: " + noOutput,
		"Invalid tools/call result: no object": refused + "Invalid tools/call result: no object",
		// Go, Python, C#
		`unknown tool "t"`:                         `unknown_tool: unknown tool "t"`,
		"Unknown tool: t":                          "unknown_tool: Unknown tool: t",
		"Unknown tool: 't'":                        "unknown_tool: Unknown tool: 't'",
		"Output validation error: 'n' is required": refused + "Output validation error: 'n' is required",
		// The words of a tool, or about another tool.
		"Method not found":      "failed: Method not found",
		"path is required":      "failed: path is required",
		"tool not found":        "failed: tool not found",
		"Tool hammer not found": "failed: Tool hammer not found",
		"sent; unknown tool: t": "failed: sent; unknown tool: t",
		"Invalid arguments for tool other: path is required": "failed: Invalid arguments for tool other: path is required",
		"Invalid structured content for tool other: n":       "failed: Invalid structured content for tool other: n",
		"": "failed: the tool failed and gave no reason",
	} {
		for _, code := range []string{"-32601", "-32602", "-32603", "-32000"} {
			for _, prefix := range []string{"", "MCP error " + code + ": "} {
				quoted := jsonvalue.Text(prefix + text)
				for _, answer := range []string{
					`"result":{"isError":true,"content":[{"type":"text","text":` + quoted + `}]}`,
					`"error":{"code":` + code + `,"message":` + quoted + `}`,
				} {
					s := serve(t, script{"tools/call": func(json.RawMessage) string { return answer }}, nil)
					equal(t, answer, call(t.Context(), list(t, s)["t"], `{}`), want)
				}
			}
		}
	}
}

func TestErrorData(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"code":-32602,"message":"path is required","data":{"path":"x"}}`: `failed: path is required {"path":"x"}`,
		`{"code":-32000,"message":"rate limited","data":null}`:             `failed: rate limited`,
	} {
		s := serve(t, script{"tools/call": func(json.RawMessage) string { return `"error":` + in }}, nil)
		equal(t, in, call(t.Context(), list(t, s)["t"], `{}`), want)
	}
}

// A response with neither a result nor an error is invalid, over any transport.
func TestResponsesWithoutResult(t *testing.T) {
	t.Parallel()
	for _, rest := range []string{`"x":1`, `"result":null`, `"result":null,"error":null`} {
		s := script{"tools/call": func(json.RawMessage) string { return rest }}
		for name, servers := range map[string]*Servers{
			"pipe":   serve(t, s, nil),
			"json":   open(t, ServerConfig{URL: serveWeb(t, s.handler(asJSON, nil))}, nil),
			"events": open(t, ServerConfig{URL: serveWeb(t, s.handler(asEvents, nil))}, nil),
		} {
			equal(t, name+" "+rest, call(t.Context(), list(t, servers)["t"], `{}`),
				"invalid_result: the call was made, but its response cannot be read")
		}
	}
}

// The server receives arguments as the program wrote them.
func TestArgumentsAreRaw(t *testing.T) {
	t.Parallel()
	s := serve(t, script{"tools/call": func(params json.RawMessage) string {
		return `"result":{"structuredContent":` + string(params) + `}`
	}}, nil)
	equal(t, "arguments", call(t.Context(), list(t, s)["t"], `{"z":12345678901234567890,"a":"<&>"}`),
		`{"name":"t","arguments":{"z":12345678901234567890,"a":"<&>"}}`)
	equal(t, "none", call(t.Context(), list(t, s)["t"], ``), `{"name":"t","arguments":{}}`)
}

// A call whose context has ended is not made.
func TestCallsThatAreNotMade(t *testing.T) {
	t.Parallel()
	calls := 0
	s := serve(t, script{"tools/call": func(json.RawMessage) string {
		calls++
		return `"result":{}`
	}}, nil)
	tool := list(t, s)["t"]
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		equal(t, "result", call(ended, tool, `{}`),
			"unavailable: the tool's server was not ready in time; the call was not made")
	}
	equal(t, "the next", call(t.Context(), tool, `{}`), `""`)
	equal(t, "calls", fmt.Sprint(calls), "1")
}

func TestCallsThatAreNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := script{"tools/call": func(json.RawMessage) string { return "" }}
		s := serve(t, silent, nil)
		tool := list(t, s)["t"]

		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		equal(t, "deadline", call(ctx, tool, `{}`), "timeout: no answer in time; whether the call took effect is unknown")

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		equal(t, "cancelled", call(ctx, tool, `{}`), "cancelled: canceled; whether the call took effect is unknown")

		s.servers[0].config.Timeout = 20 * time.Millisecond
		equal(t, "the entry's timeout", call(t.Context(), tool, `{}`),
			"timeout: no answer in time; whether the call took effect is unknown")
		s.servers[0].config.Timeout = 0
		equal(t, "replies still awaited", fmt.Sprint(current(s).exchange.Pending()), "0")

		time.AfterFunc(20*time.Millisecond, func() { s.Close() })
		equal(t, "closed meanwhile", call(t.Context(), tool, `{}`),
			"unknown: the connection to the tool's server was lost; whether the call took effect is unknown")
	})
}

// inProcess connects to an SDK server with the newest protocol.
func inProcess(t *testing.T, server *mcp.Server, o *Options) *Servers {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := Connect(t.Context(), map[string]mcp.Transport{"memory": ours}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		servers.Close()
		_ = session.Wait()
	})
	return servers
}

func TestInProcessServer(t *testing.T) {
	t.Parallel()
	type in struct {
		City string `json:"city"`
	}
	type out struct {
		Degrees int `json:"degrees"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	for i := range 5 {
		mcp.AddTool(server, &mcp.Tool{Name: fmt.Sprintf("weather%d", i), Description: "The weather."},
			func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, out, error) {
				if in.City == "Atlantis" {
					return nil, out{}, fmt.Errorf("%s is under water", in.City)
				}
				return nil, out{Degrees: i}, nil
			})
	}
	s := inProcess(t, server, nil)
	named := list(t, s)
	equal(t, "tools over three pages", fmt.Sprint(len(named)), "5")
	equal(t, "result", call(t.Context(), named["weather3"], `{"city":"Oslo"}`), `{"degrees":3}`)
	equal(t, "error", call(t.Context(), named["weather3"], `{"city":"Atlantis"}`), `failed: Atlantis is under water`)
	equal(t, "version", s.Status()[0].ProtocolVersion, "2026-07-28")

	set, err := tools.NewSet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "name in programs", set.Bindings()[0].Path(), "memory.weather0")

	server.RemoveTools("weather3")
	equal(t, "a removed tool", call(t.Context(), named["weather3"], `{}`), `unknown_tool: unknown tool "weather3"`)
}

func TestConnectOverHTTP(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
		})
	tool := list(t, overHTTP(t, server, nil))["t"]
	equal(t, "schema", string(tool.InputSchema), `{"type":"object"}`)
	equal(t, "result", call(t.Context(), tool, `{"a":1}`), `"{\"a\":1}"`)
}

// A server of the newest protocol may ask before it responds. The question is refused, and the
// response arrives nevertheless.
func TestServerWithQuestions(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "asks", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if req.Params.InputResponses == nil {

				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ListRootsParams{}}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
	s := inProcess(t, server, nil)
	equal(t, "result", call(t.Context(), list(t, s)["t"], `{}`), `"done"`)
}

func TestServerWhoseQuestionsAreNotAnswered(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "asks", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "sure?"}}}, nil
		})
	s := inProcess(t, server, nil)
	equal(t, "result", call(t.Context(), list(t, s)["t"], `{}`),
		`failed: the tool asked its client a question, which cannot be answered here`)
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"}]}`))
	f.Add([]byte(`{"content":[{"type":"image"},null,7],"structuredContent":{"a":1}}`))
	f.Add([]byte(`{"isError":true,"content":[{"type":"text","text":"MCP error -32602: x"}]}`))
	o := (*Options)(nil).withDefaults()
	untyped := newRemote(&server{name: "s", o: &o}, "t", nil)
	typed := newRemote(&server{name: "s", o: &o}, "t", json.RawMessage(`{"type":"object"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, r := range []*remote{untyped, typed} {
			value, err := r.result(raw)
			if (err == nil) != json.Valid(value) {
				t.Fatalf("%q: value %q, error %v", raw, value, err)
			}
		}
	})
}
