package mcptools

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// script is a scripted server: for each method, the rest of its JSON-RPC response
// (`"result":{}` or `"error":{}`), or "" for no response.
type script map[string]func(params json.RawMessage) string

func result(text string) func(json.RawMessage) string {
	return func(json.RawMessage) string { return `"result":` + text }
}

const hello = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"script",` +
	`"version":"1"}}`

// whole adds the handshake and one tool to the script.
func (s script) whole() script {
	all := script{
		"initialize": result(hello),
		"tools/list": result(`{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`),
	}
	maps.Copy(all, s)
	return all
}

// run serves until its input ends.
func (s script) run(r io.Reader, w io.Writer) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(line, &request) != nil || request.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"Method not found"}`
		if f := s[request.Method]; f != nil {
			answer = f(request.Params)
		}
		if answer != "" {
			fmt.Fprintf(w, `{%s,"jsonrpc":"2.0","id":%s}`+"\n", answer, request.ID)
		}
	}
}

// wireMessage is one line from a client.
type wireMessage struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// talker is a server that passes calls of tools, and messages other than requests, to a
// function that may send anything. It responds to other requests like a plain server.
type talker func(m wireMessage, say func(line string))

func (f talker) run(r io.Reader, w io.Writer) {
	plain := script{}.whole()
	lines := bufio.NewReader(r)
	say := func(line string) { _, _ = io.WriteString(w, line+"\n") }
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m wireMessage
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		answer := plain[m.Method]
		switch {
		case m.ID == nil || m.Method == "" || m.Method == "tools/call":
			f(m, say)
		case answer != nil:
			say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + answer(m.Params) + `}`)
		default:
			say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"Method not found"}}`)
		}
	}
}

// text returns a response with the text to a call.
func (m wireMessage) text(text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, m.ID, text)
}

// processes are the servers in the test binary.
var processes = map[string]func(){
	"plain": func() { serveStdio(nil) },
	"noisy": func() {
		fmt.Print("starting up…\n\n[INFO] ready\n{\"level\":\"info\"}\n")
		serveStdio(script{"tools/call": func(json.RawMessage) string {
			fmt.Println("calling")
			return `"result":{"content":[{"type":"text","text":"fine"}]}`
		}})
	},
	"answers": scripted(script{"tools/call": result(`{"content":[{"type":"text","text":"fine"}]}`)}),
	// It lists the tools in a file, and records in another file that it was asked.
	"changes": scripted(script{
		"tools/list": func(json.RawMessage) string {
			text, err := os.ReadFile(os.Getenv("TOOLS"))
			if err != nil {
				return `"error":{"code":-32000,"message":"no listing today"}`
			}
			if log, err := os.OpenFile(os.Getenv("TOOLS")+".log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintln(log, "listed")
				_ = log.Close()
			}
			return `"result":{"tools":[` + string(text) + `]}`
		},
		"tools/call": result(`{"content":[{"type":"text","text":"fine"}]}`),
	}),
	// It waits for a file.
	"slow": scripted(script{"initialize": func(json.RawMessage) string {
		for {
			if _, err := os.Stat(os.Getenv("FLAG")); err == nil {
				return `"result":` + hello
			}
			time.Sleep(time.Millisecond)
		}
	}}),
	"dies-listing": scripted(script{"tools/list": func(json.RawMessage) string {
		os.Exit(4)
		return ""
	}}),
	"dies-once-listing": scripted(script{"tools/list": func(json.RawMessage) string {
		if f, err := os.OpenFile(os.Getenv("FLAG"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
			os.Exit(4)
		}
		return `"result":{"tools":[{"name":"t"}]}`
	}}),
	"babbles": scripted(script{"tools/call": func(json.RawMessage) string {
		part := strings.Repeat("noise ", 200_000)
		for range 2 {
			for range sample(16, 85) {
				fmt.Print(part)
			}
			fmt.Println()
		}
		return `"result":{"content":[{"type":"text","text":"fine"}]}`
	}}),
	"batches": scripted(script{"tools/call": func(json.RawMessage) string {
		fmt.Println("[" + strings.Repeat("1,", 2_000_000) + "1]")
		return `"result":{"content":[{"type":"text","text":"fine"}]}`
	}}),
	"batch": scripted(script{"tools/call": func(json.RawMessage) string {
		fmt.Println(`[{"id":2,"result":{"content":[]},"jsonrpc":"2.0"}]`)
		return ""
	}}),
	"batch-first": func() {
		fmt.Println(`[ {"jsonrpc":"2.0","method":"notifications/message"} ]`)
		serveStdio(nil)
	},
	"dense":  serveDense,
	"silent": func() { _, _ = io.Copy(io.Discard, os.Stdin) },
	"broken": func() {
		fmt.Fprintln(os.Stderr, "Error: TOKEN is not set\n    at main.js:1")
		os.Exit(7)
	},
	"not-mcp": func() { fmt.Println("usage: tool [-v] file"); os.Exit(2) },
	"refuses": scripted(script{"initialize": func(json.RawMessage) string {
		return `"error":{"code":-32000,"message":"not ` +
			`today"}`
	}}),
	"dies": scripted(script{"tools/call": func(json.RawMessage) string {
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(3)
		return ""
	}}),
	"dies-on-discover": scripted(script{"server/discover": func(json.RawMessage) string {
		os.Exit(1)
		return ""
	}}),
	"modern": scripted(script{
		"initialize": func(json.RawMessage) string {
			return `"error":{"code":-32601,"message":"there is no ` +
				`initialize"}`
		},
		"server/discover": result(`{"resultType":"complete","supportedVersions":["2026-07-28"],` +
			`"capabilities":{"tools":{}},"serverInfo":{"name":"script","version":"1"}}`),
	}),
	"deep": scripted(script{"tools/call": result(`{"content":[],"structuredContent":` + strings.Repeat("[", 20_000) +
		strings.Repeat("]", 20_000) + `}`)}),
	"ignores-discover": scripted(script{"server/discover": func(json.RawMessage) string { return forever() }}),
	"chatty": func() {
		for range 40_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("all work and no play ", 5))
		}
		fmt.Fprintln(os.Stderr, "the last line")
		serveStdio(nil)
	},
	"big": scripted(script{"tools/call": func(params json.RawMessage) string {
		var p struct{ Arguments struct{ Size int } }
		_ = json.Unmarshal(params, &p)
		return `"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", p.Arguments.Size) + `"}]}`
	}}),
	"environment": scripted(script{"tools/call": func(json.RawMessage) string {
		var names []string
		for _, e := range os.Environ() {
			name, _, _ := strings.Cut(e, "=")
			names = append(names, name)
		}
		dir, _ := os.Getwd()
		text, _ := json.Marshal(map[string]any{"names": names, "dir": dir, "given": os.Getenv("GIVEN")})
		return `"result":{"structuredContent":` + string(text) + `}`
	}}),
	"stubborn": func() { // ignores every request to exit, like its child process
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command(os.Args[0], marker, "lingers", "false")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		serveStdio(script{"tools/call": result(fmt.Sprintf(`{"structuredContent":[%d,%d]}`, os.Getpid(), child.Process.Pid))})
		forever()
	},
	"host": func() { // is a host with a stubborn server, and does not close it
		servers, err := Start(context.Background(), &Config{Servers: []ServerConfig{fake("stubborn")}}, nil)
		if err != nil {
			panic(err)
		}
		all, err := servers.Tools(context.Background())
		if err != nil {
			panic(err)
		}
		fmt.Println(call(context.Background(), all[0], `{}`))
		forever()
	},
	"deaf": scripted(script{"tools/call": func(json.RawMessage) string { return forever() }}),
	"lingers": func() {
		signal.Ignore(syscall.SIGTERM)
		forever()
	},
}

// forever neither returns nor reads input.
func forever() string {
	time.Sleep(time.Hour)
	return ""
}

// scripted is a process that serves a script.
func scripted(s script) func() {
	return func() { serveStdio(s) }
}

func serveStdio(s script) { s.whole().run(os.Stdin, os.Stdout) }
