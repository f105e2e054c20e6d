package workspace_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// The environment variables that give a process of this test binary a role and a storage
// folder.
const (
	roleEnv   = "WRIT_TEST_ROLE"
	folderEnv = "WRIT_TEST_FOLDER"
)

// child is another process with the same storage folder. It executes the lines that it
// receives and answers each with a line.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, role, folder string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(self)}
	c.Env = append(os.Environ(), roleEnv+"="+role, folderEnv+"="+folder)
	c.Stderr = os.Stderr
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// do sends a line and returns the answer.
func (c *child) do(t *testing.T, line string) string {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		t.Fatal(err)
	}
	answer, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSuffix(answer, "\n")
}

// end closes the input of the process and waits until it exits.
func (c *child) end(t *testing.T) {
	t.Helper()
	c.in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// die kills the process, like kill -9.
func (c *child) die(t *testing.T) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // the error says that it was killed
	c.in.Close()
}

var roles = map[string]func(*workspace.Store) error{"append": appender, "write": writer, "run": runner,
	"count": countUp, "hold": holder}

// play is the main function of a child.
func play(role string) int {
	store, err := workspace.Open(os.Getenv(folderEnv))
	if err == nil {
		defer store.Close()
		err = roles[role](store)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		return 1
	}
	return 0
}

// lines calls f with the words of each line of the input and prints the answers.
func lines(f func(words []string) (answer string, err error)) error {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		answer, err := f(strings.SplitN(input.Text(), " ", 3))
		if err != nil {
			return err
		}
		fmt.Println(answer)
	}
	return input.Err()
}

// appender appends the requested number of pieces to a file.
func appender(store *workspace.Store) error {
	return lines(func(words []string) (string, error) {
		n, err := strconv.Atoi(words[1])
		for i := 0; i < n && err == nil; i++ {
			_, err = store.Space("ann").Append(context.Background(), words[0], piece(words[2], i))
		}
		return "done", err
	})
}

// piece returns a line that shows whether it is complete.
func piece(who string, i int) string {
	return fmt.Sprintf("<%s %d %s>\n", who, i, strings.Repeat(who, 100))
}

// enough is how many changes a process makes that a test kills. It is within all limits, even
// if the test takes long to kill the process on a busy machine.
const enough = 100

// writer appends large blocks to a file and reports each.
func writer(store *workspace.Store) error {
	return lines(func(words []string) (string, error) {
		for i := range enough {
			if _, err := store.Space("ann").Append(context.Background(), words[0], block(i)); err != nil {
				return "", err
			}
			fmt.Println(i)
		}
		return "enough", nil
	})
}

func block(i int) string { return strings.Repeat(string(rune('a'+i%26)), 4096) }

// holder locks an environment and never unlocks it.
func holder(store *workspace.Store) error {
	return lines(func(words []string) (string, error) {
		e, err := store.Space("ann").Environment(context.Background(), words[0])
		if err == nil {
			_, err = e.Lock(context.Background())
		}
		return "held", err
	})
}

// runner runs programs in a session. Their tool next counts in a file. Their tool hang
// reports that it was called and does not return.
func runner(store *workspace.Store) error {
	ctx := context.Background()
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	hang := func(ctx context.Context, _ struct{}) (int, error) {
		fmt.Println("hanging")
		<-ctx.Done()
		return 0, ctx.Err()
	}
	set, err := tools.NewSet(ctx, counter(os.Getenv(folderEnv)+".calls"), tools.Func("hang", "", hang, nil))
	if err != nil {
		return err
	}
	return lines(func(words []string) (string, error) {
		out, err := store.Space("ann").RunSession(ctx, words[0], box, sandbox.Program{Source: strings.Join(words[1:],
			" "), Tools: set})
		return shown(out, err), nil
	})
}

// countUp runs programs in a session and reports each.
func countUp(store *workspace.Store) error {
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	return lines(func(words []string) (string, error) {
		for range enough {
			fmt.Println(shown(store.Space("ann").RunSession(context.Background(), words[0], box, program("n += 1; n"))))
		}
		return "enough", nil
	})
}

// counter returns a tool that appends a byte to a file and returns the size of the file.
func counter(file string) *tools.Tool {
	return tools.Func("next", "", func(context.Context, struct{}) (int64, error) {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		if _, err := f.WriteString("x"); err != nil {
			return 0, err
		}
		info, err := f.Stat()
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}, nil)
}

func shown(out *sandbox.Outcome, err error) string {
	switch {
	case err != nil:
		return "error: " + err.Error()
	case out.Failure != nil:
		return "failure: " + out.Failure.Message
	case out.Value == nil:
		return "undefined"
	}
	text, err := json.Marshal(out.Value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
