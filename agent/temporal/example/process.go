package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// process is a process that ends with its standard input, and so with the process that started it.
type process struct {
	*exec.Cmd
	stdin io.Closer
}

// start starts a process, and returns the first line that it prints: it is ready.
func start(name string, args ...string) (*process, string, error) {
	p := &process{Cmd: exec.Command(name, args...)}
	p.Stderr = os.Stderr
	stdin, err := p.StdinPipe()
	stdout, bad := p.StdoutPipe()
	if err := cmp.Or(err, bad, p.Start()); err != nil {
		return nil, "", err
	}
	p.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.kill()
		return nil, "", fmt.Errorf("%s did not start: %w", strings.Join(p.Args, " "), err)
	}
	return p, strings.TrimSpace(line), nil
}

// role starts this executable in another role: see main.
func role(name string, c config) (*process, string, error) {
	self, err := os.Executable()
	text, bad := json.Marshal(c)
	if err = cmp.Or(err, bad); err != nil {
		return nil, "", err
	}
	return start(self, "-role", name, "-config", string(text))
}

// kill ends a process at once, as a machine that loses its power does.
func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// ready tells the process that started this one that it is ready, and waits until this one is to end.
func ready(line string) {
	fmt.Println(line)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
