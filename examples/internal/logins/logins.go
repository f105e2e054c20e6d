// Package logins lets users of the examples log in to MCP servers.
package logins

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/mcptools/login"
)

// Flags are the flags -login and -logout.
type Flags struct{ login, logout string }

// Define adds the flags.
func (f *Flags) Define(flags *flag.FlagSet) {
	flags.StringVar(&f.login, "login", "", "`server` in -config to log in to with OAuth; later runs use the tokens")
	flags.StringVar(&f.logout, "logout", "", "`server` in -config to log out of; its tokens are removed and revoked")
}

// Handler returns the handlers of a command with a configuration file, for [mcptools.Options].OAuth.
func Handler(command, config string) func(mcptools.ServerConfig) auth.OAuthHandler {
	return login.New(&login.Options{Command: command + " -config " + config + " -login"}).Handler
}

// Run does what the flags ask for.
func (f *Flags) Run(ctx context.Context, config string, stderr io.Writer) error {
	c, err := mcptools.ReadConfig(config)
	if err != nil {
		return err
	}
	if f.login != "" {
		if err := login.New(nil).Login(ctx, c, f.login); err != nil {
			return err
		}
		fmt.Fprintln(stderr, "logged in to", f.login)
		return nil
	}
	revoked, err := login.New(nil).Logout(ctx, c, f.logout)
	if err != nil {
		return err
	}
	result := "logged out of " + f.logout
	if !revoked {
		result += "; it may accept the old tokens until they expire"
	}
	fmt.Fprintln(stderr, result)
	return nil
}
