package mcptools

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// command prepares the server's command, which has not been started. It uses no
// context: the one that bounds the handshake must not end the server.
func (c *ServerConfig) command(inherit []string) (*exec.Cmd, error) {
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf(`folder %q does not exist; create it, or correct "cwd"`, c.Dir)
		}
	}
	env := c.environment(inherit)
	path, err := c.find(env)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: path, Args: append([]string{c.Command}, c.Args...), Env: env, Dir: c.Dir}, nil
}

// environment is never nil, for which exec would inherit everything.
func (c *ServerConfig) environment(inherit []string) []string {
	env := []string{}
	for _, name := range slices.Concat(essential, inherit) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, name+"="+c.Env[name])
	}
	return env
}

// find returns the path of the program: a bare name is looked for in the PATH
// that the server itself gets, anything else is taken from its folder.
func (c *ServerConfig) find(env []string) (string, error) {
	if filepath.Base(c.Command) != c.Command {
		path := c.Command
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("command %q cannot be run: %w; correct the path, or make it executable", c.Command, err)
		}
		return filepath.Abs(found)
	}
	for _, dir := range filepath.SplitList(searchPath(env)) {
		if found, err := exec.LookPath(filepath.Join(dir, c.Command)); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", fmt.Errorf("command %q was not found in PATH; install it, or give its full path", c.Command)
}

func searchPath(env []string) string {
	path := ""
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); strings.EqualFold(name, "PATH") {
			path = value // the last one holds
		}
	}
	return path
}
