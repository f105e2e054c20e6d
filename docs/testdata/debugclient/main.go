// Debugclient calls a tool of an MCP server and prints the result, for the commands in the
// documents. Without a program or a tool, it lists the server's tools.
//
//	debugclient -code '6 * 7' -- mcpserver -config mcp_servers.json
//	debugclient -url http://127.0.0.1:8080/mcp -token … -tool describe_tool -args '{"name": "fs"}'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/display"
)

func main() {
	ok, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "debugclient:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run makes the call that the flags describe, and reports whether it succeeded.
func run() (bool, error) {
	url := flag.String("url", "", "address of the server, instead of a command")
	token := flag.String("token", "", "bearer token for -url")
	code := flag.String("code", "", "`program` to run")
	tool := flag.String("tool", "", "`name` of a tool to call, with -args")
	text := flag.String("args", "{}", "arguments of the tool, as a `JSON` object")
	raw := flag.Bool("json", false, "print the list or the result as JSON")
	flag.Parse()
	var args map[string]any
	if err := json.Unmarshal([]byte(*text), &args); err != nil {
		return false, fmt.Errorf("-args %s: not a JSON object: %w", *text, err)
	}
	if *code != "" {
		*tool, args["code"] = "execute_code", *code
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	session, err := connect(ctx, *url, *token, flag.Args())
	if err != nil {
		return false, err
	}
	defer session.Close()
	if *tool == "" {
		return true, list(ctx, session, *raw)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: *tool, Arguments: args})
	if err != nil {
		return false, err
	}
	if *raw {
		return !result.IsError, printJSON(result)
	}
	return !result.IsError, show(result)
}

func connect(ctx context.Context, url, token string, command []string) (*mcp.ClientSession, error) {
	var transport mcp.Transport
	switch {
	case (url == "") == (len(command) == 0):
		return nil, errors.New("give the command of a server after the flags, or -url")
	case url != "":
		transport = &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}
	default:
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: cmd}
	}
	return mcp.NewClient(&mcp.Implementation{Name: "debugclient", Version: "0.1.0"}, nil).Connect(ctx, transport, nil)
}

// bearer sends a token with every request.
type bearer string

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func list(ctx context.Context, session *mcp.ClientSession, raw bool) error {
	for t, err := range session.Tools(ctx, nil) {
		if err == nil && raw {
			err = printJSON(t)
		}
		if err != nil {
			return err
		}
		if !raw {
			fmt.Printf("%s\n%s\n\n", t.Name, indent(t.Description))
		}
	}
	return nil
}

// execution has the fields of the result of execute_code.
type execution struct {
	Result      json.RawMessage `json:"result"`
	Error       string          `json:"error"`
	ErrorType   string          `json:"error_type"`
	Stdout      string          `json:"stdout"`
	DurationMS  float64         `json:"duration_ms"`
	Diagnostics []finding       `json:"diagnostics"`
	Warnings    []finding       `json:"warnings"`
	Calls       *[]struct {
		Tool       string  `json:"tool"`
		OK         *bool   `json:"ok"`
		Args       string  `json:"args"`
		Error      string  `json:"error"`
		DurationMS float64 `json:"duration_ms"`
	} `json:"calls"`
}

type finding struct {
	ErrorType string `json:"error_type"`
	Message   string `json:"message"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Frame     string `json:"frame"`
	Hint      string `json:"hint"`
}

func (f finding) String() string {
	text := f.ErrorType + ": " + f.Message
	if f.Line > 0 {
		text += fmt.Sprintf(" (line %d, column %d)", f.Line, f.Column)
	}
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	if f.Frame != "" {
		text += "\n" + f.Frame
	}
	return text
}

// show prints the result of a program in parts, and any other result as JSON or, if it has none, as text.
func show(got *mcp.CallToolResult) error {
	if got.StructuredContent == nil {
		for _, c := range got.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				fmt.Println(display.Text(text.Text))
			}
		}
		return nil
	}
	var e execution
	text, err := json.Marshal(got.StructuredContent)
	if err != nil {
		return err
	}
	if json.Unmarshal(text, &e) != nil || e.Calls == nil {
		return printJSON(got.StructuredContent)
	}
	part("console", e.Stdout)
	for _, f := range e.Warnings {
		part("warning", f.String())
	}
	for _, f := range e.Diagnostics {
		part("error", f.String())
	}
	var calls []string
	for _, c := range *e.Calls {
		line := c.Tool
		if c.Args != "" {
			line += "(" + c.Args + ")"
		}
		if c.DurationMS > 0 {
			line += "  " + milliseconds(c.DurationMS)
		}
		switch {
		case c.Error != "":
			line += "  failed: " + c.Error
		case c.OK != nil && !*c.OK:
			line += "  had no answer"
		}
		calls = append(calls, line)
	}
	part("calls", strings.Join(calls, "\n"))
	switch {
	case e.Error != "":
		part("error", e.ErrorType+": "+e.Error)
	case e.ErrorType == "":
		part("result", string(e.Result))
	}
	part("time", milliseconds(e.DurationMS))
	return nil
}

// part prints one part of a result unless it is empty.
func part(name, text string) {
	if text != "" {
		fmt.Printf("── %s\n%s\n", name, indent(text))
	}
}

// indent removes what controls a terminal, because models and servers wrote the text.
func indent(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimSuffix(display.Text(text), "\n"), "\n", "\n   ")
}

func printJSON(v any) error {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

func milliseconds(n float64) string {
	return time.Duration(n * float64(time.Millisecond)).Round(100 * time.Microsecond).String()
}
