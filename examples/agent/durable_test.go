package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/internal/testserver"
)

// process runs the command in another process, which has no terminal.
func process(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd, out, errs := newProcess(args)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func newProcess(args []string) (cmd *exec.Cmd, stdout, stderr *strings.Builder) {
	stdout, stderr = &strings.Builder{}, &strings.Builder{}
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), commandEnv+"=1")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// Ctrl-C pauses a run: the call that the program makes after it is made when the run is resumed.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signal")
	}
	dir := files(t)
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	flags := []string{"-journal", t.TempDir(), "-config", config, "-model", "openai:stub"}
	cmd, _, stderr := newProcess(append(flags, "Write a file."))
	started := make(chan struct{})
	serveOpenAI(t, stub.OpenAI(&stub.Options{Answer: func(stub.Request) stub.Reply {
		<-started
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		time.Sleep(300 * time.Millisecond) // until the process has noticed it
		return stub.Reply{Text: "```js\nawait fs.write_file({path: 'a', content: '1'}); submit({answer: 'done'})\n```"}
	}}))
	cmd.Env = append(os.Environ(), commandEnv+"=1") // with the stub's address
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	_ = cmd.Wait()
	id := resumes.FindStringSubmatch(stderr.String())
	if code := cmd.ProcessState.ExitCode(); code != 3 || id == nil {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("the file was written after the interrupt")
	}
	code, stdout, again := process(t, resume(flags, id[1])...)
	if text, err := os.ReadFile(filepath.Join(dir, "a")); code != 0 || stdout != "done\n" || string(text) != "1" {
		t.Errorf("code %d, stdout %q, file %q (%v)\n%s", code, stdout, text, err, again)
	}
}

var resumes = regexp.MustCompile(`(?m)runs resume .* (r-[a-z0-9]+)$`)

// resume returns the arguments that resume a run.
func resume(flags []string, id string) []string {
	return slices.Concat([]string{"runs", "resume"}, flags, []string{id})
}

// A run that was interrupted goes on in another process, without asking the model again.
func TestResume(t *testing.T) {
	dir, runs := files(t), t.TempDir()
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	newOpenAI(t, "```js\nawait fs.write_file({path: 'a', content: '1'}); console.log('written')\n```") // then overloaded
	flags := []string{"-journal", runs, "-config", config, "-model", "openai:stub"}
	code, _, stderr := process(t, append(flags, "Write a file.")...)
	if code != 1 || !strings.Contains(stderr, "overloaded") {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	_, list, _ := process(t, "runs", "list", "-journal", runs)
	id := strings.Fields(list)[0]
	if !strings.Contains(list, "failed") || !strings.Contains(list, "Write a file.") {
		t.Errorf("runs list printed %s", list)
	}
	model := newOpenAI(t, "```js\nsubmit({answer: 'done'})\n```")
	code, stdout, stderr := process(t, resume(flags, id)...)
	if code != 0 || stdout != "done\n" {
		t.Errorf("code %d, stdout %q\n%s", code, stdout, stderr)
	}
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the resumed run made %d requests", n)
	}
}
