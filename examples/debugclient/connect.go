package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is the address or command of a server, and the protocol to use.
type server struct {
	command    []string
	url, token string
	protocol   string // "" is the newest
}

// older is the protocol version of servers that exit, or do not answer, when asked for the newest
// one.
const older = "2025-11-25"

func (s server) connect(ctx context.Context, stderr io.Writer) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "debugclient", Version: "0.1.0"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			fmt.Fprintln(stderr, "  …", r.Params.Message)
		},
	})
	session, err := client.Connect(ctx, s.transport(stderr), &mcp.ClientSessionOptions{ProtocolVersion: s.protocol})
	if err == nil || s.protocol != "" || ctx.Err() != nil {
		return session, s.advise(err)
	}
	fmt.Fprintf(stderr, "not connected (%v); asking for MCP %s\n", err, older)
	session, err = client.Connect(ctx, s.transport(stderr), &mcp.ClientSessionOptions{ProtocolVersion: older})
	return session, s.advise(err)
}

// advise suggests another address if no MCP server answers at the given one.
func (s server) advise(err error) error {
	at, bad := url.Parse(s.url)
	if err == nil || bad != nil || s.url == "" || strings.Trim(at.Path, "/") != "" ||
		!strings.Contains(err.Error(), http.StatusText(http.StatusNotFound)) {
		return err
	}
	return fmt.Errorf("%w; most servers answer at a path: try -url %s", err, at.JoinPath("mcp"))
}

func (s server) transport(stderr io.Writer) mcp.Transport {
	if s.url == "" {
		cmd := exec.Command(s.command[0], s.command[1:]...)
		cmd.Stderr = stderr
		return &mcp.CommandTransport{Command: cmd}
	}
	client := &http.Client{Transport: bearer(s.token)}
	return &mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: client}
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}
