// Package stdio starts MCP servers as child processes, exchanges messages with them over
// stdin and stdout, and stops them with everything that they started.
package stdio

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// inherited names the host's environment variables that every server gets.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// inheritedOnWindows names the variables that every server also gets on Windows.
var inheritedOnWindows = []string{
	"PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH",
	"USERNAME", "USERPROFILE", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// Command describes how to start a server.
type Command struct {
	Path    string // a path, or a name to look up in PATH
	Args    []string
	Env     map[string]string
	Inherit []string // further environment variables of the host that the server gets
	Dir     string   // empty means the current directory
}

// prepare returns the command, which has not been started. The command has no context, since the server must not end
// when the handshake's context is done.
func (c *Command) prepare() (*exec.Cmd, error) {
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf(`directory %q does not exist; create it, or correct "cwd"`, c.Dir)
		}
	}
	env := c.environment()
	path, err := c.find(env)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: path, Args: append([]string{c.Path}, c.Args...), Env: env, Dir: c.Dir}, nil
}

// environment returns the server's environment variables. It never returns nil, because package exec would then pass on
// the whole environment of the host.
func (c *Command) environment() []string {
	env := []string{}
	names := slices.Concat(inherited, c.Inherit)
	if runtime.GOOS == "windows" {
		names = append(names, inheritedOnWindows...)
	}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, name+"="+c.Env[name])
	}
	return env
}

// find returns the program's path. It looks for a bare name in the PATH that the server itself gets; any other path is
// relative to the server's directory.
func (c *Command) find(env []string) (string, error) {
	if filepath.Base(c.Path) != c.Path {
		path := c.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("command %q cannot be run: %w; correct the path, or make it executable", c.Path, err)
		}
		return filepath.Abs(found)
	}
	for _, dir := range filepath.SplitList(searchPath(env)) {
		if found, err := exec.LookPath(filepath.Join(dir, c.Path)); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", fmt.Errorf("command %q was not found in PATH; install it, or give its full path", c.Path)
}

func searchPath(env []string) string {
	path := ""
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); strings.EqualFold(name, "PATH") {
			path = value // the last PATH counts
		}
	}
	return path
}
