package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/testserver"
)

func converse(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{"-chat", "-model", "openai:stub"}, args...)
	if i := slices.Index(args, "resume"); i > 0 {
		args = resume(append(args[:i:i], args[i+2:]...), args[i+1])
	}
	code = command(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// Each task sees the earlier tasks with their answers, also if there is no answer.
func TestChat(t *testing.T) {
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(files(t))})
	model := newOpenAI(t, "```js\nsubmit({answer: 'blue'})\n```", "```js\nthrow 1\n```", "```js\nsubmit({answer: task})\n```")
	file := filepath.Join(t.TempDir(), "run.json")
	code, stdout, stderr := converse(t, "A color?\n\nA number?\nThe last task?\n",
		"-config", config, "-steps", "1", "-trajectory", file)
	if code != 0 || stdout != "blue\nThe last task?\n" {
		t.Fatalf("code %d, stdout %q\n%s", code, stdout, stderr)
	}
	requests := model.Requests()
	last := string(requests[len(requests)-1].Raw)
	for _, want := range []string{"A color?", "blue", "A number?", "There is no answer.", "The last task?"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last request does not contain %q:\n%s", want, last)
		}
	}
	if _, in := readRecording(t, file); in.Task != "The last task?" || len(in.History) != 2 {
		t.Errorf("got %+v", in)
	}
}

// A call is approved at the terminal, and a task that was paused goes on, followed by other tasks.
func TestChatResume(t *testing.T) {
	dir := files(t)
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	model := newOpenAI(t, "```js\nsubmit({answer: 'blue'})\n```",
		"```js\nawait fs.write_file({path: 'a', content: '1'}); submit({answer: 'written'})\n```",
		"```js\nsubmit({answer: 'end'})\n```")
	flags := []string{"-ask", "-journal", t.TempDir(), "-config", config}
	code, stdout, stderr := converse(t, "A color?\nWrite a file.\n", flags...) // then the input ends
	id := resumes.FindStringSubmatch(stderr)
	if code != 3 || stdout != "blue\n" || id == nil {
		t.Fatalf("code %d, stdout %q\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = converse(t, "y\nMore.\n", append(flags, "resume", id[1])...)
	if text, err := os.ReadFile(filepath.Join(dir, "a")); code != 0 || stdout != "written\nend\n" || string(text) != "1" {
		t.Fatalf("code %d, stdout %q, file %q (%v)\n%s", code, stdout, text, err, stderr)
	}
	if last := string(model.Requests()[2].Raw); !strings.Contains(last, "A color?") || !strings.Contains(last, "written") {
		t.Errorf("the last request has not the whole conversation:\n%s", last)
	}
}

// canceler cancels a context when a text is written.
type canceler struct {
	written bytes.Buffer
	text    string
	cancel  func()
}

func (c *canceler) Write(text []byte) (int, error) {
	if strings.Contains(string(text), c.text) {
		c.cancel()
	}
	return c.written.Write(text)
}

// Ctrl-C ends a question that nobody answers, and says how the run is resumed, or could have been.
func TestInterruptedQuestion(t *testing.T) {
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(files(t))})
	for _, test := range []struct {
		code  int
		want  string
		flags []string
	}{
		{3, "runs resume -journal", []string{"-journal", t.TempDir()}},
		{1, "with -journal, Ctrl-C only pauses a task", nil},
	} {
		newOpenAI(t, "```js\nawait fs.write_file({path: 'a', content: '1'}); submit({answer: 'written'})\n```")
		ctx, cancel := context.WithCancel(t.Context())
		stdin, end := io.Pipe()
		stderr := &canceler{text: "allow it?", cancel: cancel}
		args := append(test.flags, "-ask", "-config", config, "-model", "openai:stub", "Write.")
		if code := command(ctx, args, stdin, io.Discard, stderr); code != test.code ||
			!strings.Contains(stderr.written.String(), test.want) {
			t.Errorf("code %d\n%s", code, &stderr.written)
		}
		end.Close()
	}
}

func TestChatFlags(t *testing.T) {
	if code, _, stderr := converse(t, "", "task"); code != 2 || !strings.Contains(stderr, "-chat takes no task") {
		t.Errorf("code %d\n%s", code, stderr)
	}
}

// A folder that does not exist is not created to look for runs.
func TestNoFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "missing")
	for _, action := range actions {
		args := []string{"runs", action, "-journal", folder}
		if action != "list" && action != "prune" {
			args = append(args, "r-1")
		}
		code, _, stderr := run(t, t.Context(), args...)
		if _, err := os.Stat(folder); code != 1 || err == nil || !strings.Contains(stderr, "the folder of -journal") {
			t.Errorf("%v: code %d, %v\n%s", args, code, err, stderr)
		}
	}
}
