// Echoserver is a small MCP server to try things with: something to call, to wait
// for, to have an effect, and to break. It needs no Node and no network.
//
//	{"mcpServers": {"demo": {"command": "go", "args": ["run", "./docs/testdata/echoserver", "-notes", "notes.txt"]}}}
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	notes := flag.String("notes", "", "`file` to which note appends; without it there is no such tool")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := newServer(*notes, os.Exit).Run(ctx, &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) &&
		ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "echoserver:", err)
		os.Exit(1)
	}
}

// newServer returns the server; its tool die calls exit.
func newServer(notes string, exit func(int)) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	add(server, "echo", "Returns the text.", `{"text": {"type": "string"}}`, `"text"`,
		func(_ context.Context, a arguments) (string, error) { return a.Text, nil })
	add(server, "wait", "Returns after the given number of seconds.",
		`{"seconds": {"type": "number", "minimum": 0, "maximum": 60}}`, `"seconds"`, wait)
	add(server, "die", "Ends the server without answering.", `{}`, ``,
		func(context.Context, arguments) (string, error) { exit(3); return "", nil })
	if notes != "" {
		add(server, "note", "Appends a line to the notes.", `{"text": {"type": "string"}}`, `"text"`,
			func(_ context.Context, a arguments) (string, error) { return "noted", appendLine(notes, a.Text) })
	}
	return server
}

type arguments struct {
	Text    string  `json:"text"`
	Seconds float64 `json:"seconds"`
}

func add(server *mcp.Server, name, about, properties, required string,
	do func(context.Context, arguments) (string, error)) {
	schema := fmt.Sprintf(`{"type": "object", "properties": %s, "required": [%s]}`, properties, required)
	server.AddTool(&mcp.Tool{Name: name, Description: about, InputSchema: json.RawMessage(schema)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var a arguments
			err := json.Unmarshal(r.Params.Arguments, &a)
			text := ""
			if err == nil {
				text, err = do(ctx, a)
			}
			result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
			if err != nil {
				result.SetError(err)
			}
			return result, nil
		})
}

func wait(ctx context.Context, a arguments) (string, error) {
	select {
	case <-time.After(time.Duration(a.Seconds * float64(time.Second))):
		return fmt.Sprintf("waited %gs", a.Seconds), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}
