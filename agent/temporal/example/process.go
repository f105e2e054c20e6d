package main

import (
	"bufio"
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
	if err != nil {
		return nil, "", err
	}
	stdout, err := p.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := p.Start(); err != nil {
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
func role(name string, args ...string) (*process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	return start(self, append([]string{"-role", name}, args...)...)
}

// kill ends a process at once, as a machine that loses its power does.
func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// stop lets a process end.
func (p *process) stop() {
	_ = p.stdin.Close()
	_ = p.Wait()
}

// ready tells the process that started this one that it is ready, and waits until this one is to end.
func ready(line string) {
	fmt.Println(line)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
