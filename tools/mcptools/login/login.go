// Package login logs in to remote MCP servers with OAuth, and keeps the tokens between runs. It is apart from package
// mcptools, so that only programs that use it link the keyring.
//
//	logins := login.New(&login.Options{Command: "mytool -login"})
//	err := logins.Login(ctx, config, "tickets") // once, with the user
//	servers, err := mcptools.Start(ctx, config, &mcptools.Options{OAuth: logins.Handler})
//
// Login performs the authorization code flow with PKCE. It finds the authorization server as the MCP specification
// says (RFC 9728, RFC 8414), registers a client there (RFC 7591) unless the server's entry has one, and receives the
// code on a port of this machine. The tokens are for that server only (RFC 8707). They are kept in the system's
// keyring. If there is no keyring, or if they are too large for it, they are kept in a file that only the user can
// read. They appear in no error and no log.
package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/tools/mcptools"
)

// Options configure [New]. The zero value of every field is its default, and nil Options are the defaults.
type Options struct {
	// Command is the command that calls Login, such as "mytool -login". Errors recommend it, followed by the name of the
	// server. If it is empty, errors only say that a login is needed.
	Command string

	// Folder contains the files with tokens, and the locks that let several processes use the same login. Empty means
	// writ/logins in [os.UserConfigDir].
	Folder string

	// NoKeyring keeps tokens in files even if the system has a keyring.
	NoKeyring bool

	// Show shows the user the address at which to log in. Nil writes it to stderr, and opens it in the user's browser if
	// there is one.
	Show func(address string)

	// HTTPClient sends the requests to servers and authorization servers. Only its Transport and its Jar are used.
	HTTPClient *http.Client
}

// Logins are the logins of the user. They are safe for concurrent use, also by several processes.
type Logins struct {
	o     Options
	store store
}

// New returns the logins that are kept where the options say.
func New(o *Options) *Logins {
	l := &Logins{}
	if o != nil {
		l.o = *o
	}
	if l.o.Show == nil {
		l.o.Show = show
	}
	l.store.folder, l.store.noKeyring = l.o.Folder, l.o.NoKeyring
	return l
}

// Login lets the user log in to a server in the configuration, and keeps the tokens. An earlier login to the server is
// replaced. Login waits for the user until ctx is done. If the user's browser is on another machine, its last page
// cannot be loaded: requesting the address of that page on this machine completes the login.
func (l *Logins) Login(ctx context.Context, c *mcptools.Config, server string) error {
	s, err := find(c, server)
	if err != nil {
		return err
	}
	f, err := l.newFlow(ctx, s)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	defer f.listener.Close()
	s.Timeout, s.Disabled, s.Headers = 0, false, withoutAuthorization(s.Headers)
	servers, err := mcptools.Start(ctx, &mcptools.Config{Servers: []mcptools.ServerConfig{s}}, &mcptools.Options{
		ConnectTimeout: 15 * time.Minute, HTTPClient: l.o.HTTPClient,
		OAuth: func(mcptools.ServerConfig) auth.OAuthHandler { return f },
	})
	if err != nil {
		return fmt.Errorf("login: %w", cmp.Or(errors.Unwrap(err), err)) // without "all mcp servers failed"
	}
	if err = servers.Close(); !f.saved.Load() { // the server lets everybody connect, but may protect its tools
		err = f.unasked(ctx, s.URL)
	}
	if err != nil {
		return fmt.Errorf("login: mcp server %q: %w", server, err)
	}
	return nil
}

// Logout removes the tokens for a server from this machine and revokes them. It returns false if the authorization
// server does not support revocation (RFC 7009), so that the tokens remain valid until they expire. If revoking fails,
// it returns an error, but the tokens are removed.
func (l *Logins) Logout(ctx context.Context, c *mcptools.Config, server string) (revoked bool, err error) {
	s, err := find(c, server)
	if err != nil {
		return false, err
	}
	k := keyOf(s)
	unlock, err := l.store.lock(ctx, k)
	if err != nil {
		return false, fmt.Errorf("login: %w", err)
	}
	defer unlock()
	r, err := l.store.load(k)
	switch {
	case err != nil:
		return false, fmt.Errorf("login: %w", err)
	case r == nil:
		return false, fmt.Errorf("login: there is no login to mcp server %q; nothing to do", server)
	}
	if err := l.store.remove(k); err != nil {
		return false, fmt.Errorf("login: removing the tokens: %w", err)
	}
	if r.RevocationURL == "" {
		return false, nil
	}
	if err := l.revoke(ctx, r); err != nil {
		return false, fmt.Errorf("login: the tokens are removed from this machine, but mcp server %q may still accept "+
			"them: revoking them failed: %w", server, r.hide(err))
	}
	return true, nil
}

// find returns a remote server in a configuration.
func find(c *mcptools.Config, name string) (mcptools.ServerConfig, error) {
	if c == nil {
		c = &mcptools.Config{}
	}
	i := slices.IndexFunc(c.Servers, func(s mcptools.ServerConfig) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range c.Servers {
			names = append(names, s.Name)
		}
		hint := ""
		if near := similar.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return mcptools.ServerConfig{}, fmt.Errorf("login: the configuration has no mcp server %q%s", name, hint)
	}
	if c.Servers[i].URL == "" {
		return mcptools.ServerConfig{},
			fmt.Errorf("login: mcp server %q has no URL; only remote servers have a login", name)
	}
	return c.Servers[i], nil
}

// show is the default of Options.Show.
func show(address string) {
	fmt.Fprintf(os.Stderr, "Log in at this address:\n\n%s\n\nIf your browser is on another machine, its last page cannot "+
		"be loaded. Then run curl on this machine with the address of that page.\n", address)
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	browser := exec.Command(command[0], append(command[1:], address)...)
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	if browser.Start() == nil {
		go func() { _ = browser.Wait() }()
	}
}

func withoutAuthorization(headers map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range headers {
		if !strings.EqualFold(name, "Authorization") {
			kept[name] = value
		}
	}
	return kept
}
