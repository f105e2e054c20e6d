package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/testserver"
)

// process runs the command in another process, which has no terminal.
func process(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), commandEnv+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

var resumes = regexp.MustCompile(`-resume (r-[a-z0-9]+)`)

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
	_, list, _ := process(t, "-journal", runs, "-runs")
	id := strings.Fields(list)[0]
	if !strings.Contains(list, "failed") || !strings.Contains(list, "Write a file.") {
		t.Errorf("-runs printed %s", list)
	}
	model := newOpenAI(t, "```js\nsubmit({answer: 'done'})\n```")
	code, stdout, stderr := process(t, append(flags, "-resume", id)...)
	if code != 0 || stdout != "done\n" {
		t.Errorf("code %d, stdout %q\n%s", code, stdout, stderr)
	}
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the resumed run made %d requests", n)
	}
}
