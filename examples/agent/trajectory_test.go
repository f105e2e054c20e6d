package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/internal/testserver"
	"github.com/writ-go/writ/module"
)

// recordRun runs a task with a model that gives the replies, and returns the file with its trajectory.
func recordRun(t *testing.T, code int, replies ...string) (file, dir string) {
	t.Helper()
	dir, file = files(t), filepath.Join(t.TempDir(), "run.json")
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	newOpenAI(t, replies...)
	got, _, stderr := run(t, t.Context(), "-trajectory", file, "-config", config, "-model", "openai:stub", "Add up.")
	if got != code {
		t.Fatalf("code %d, want %d\n%s", got, code, stderr)
	}
	return file, dir
}

func readRecording(t *testing.T, file string) (module.Trajectory, agent.Task) {
	t.Helper()
	run, in, err := (&config{trajectory: file}).recorded()
	if err != nil {
		t.Fatal(err)
	}
	return run, in
}

// The trajectory of a run that fails is written, too.
func TestTrajectory(t *testing.T) {
	file, _ := recordRun(t, 0, "no program", aggregate("", "r"))
	if r, in := readRecording(t, file); len(r.Steps) != 2 || in.Task != "Add up." {
		t.Errorf("got %d steps, task %s", len(r.Steps), in.Task)
	}
	file, _ = recordRun(t, 1, aggregate("", "r.no")) // then the model is overloaded
	if r, _ := readRecording(t, file); r.Err == nil || !strings.Contains(r.Err.Error(), "overloaded") {
		t.Errorf("got the error %v", r.Err)
	}
}

// The trajectory of a run that has paused is written.
func TestTrajectoryPaused(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "run.json"), files(t)
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	newOpenAI(t, "```js\nawait fs.write_file({path: 'a', content: '1'}); submit({answer: 'done'})\n```")
	flags := []string{"-ask", "-journal", t.TempDir(), "-trajectory", file, "-config", config, "-model", "openai:stub"}
	code, _, stderr := run(t, t.Context(), append(flags, "Write a file.")...)
	if code != 3 {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if r, _ := readRecording(t, file); len(r.Steps) != 1 || len(r.Steps[0].Outcome.Calls) != 1 {
		t.Errorf("got %v", r)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	id := resumes.FindStringSubmatch(stderr)
	if code, _, stderr = run(t, t.Context(), resume(flags, id[1])...); code != 3 {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if _, in := readRecording(t, file); in.Task != "Write a file." {
		t.Errorf("after runs resume, the task is %q", in.Task)
	}
}

// A step runs again without servers and a model, and says whether it did the same.
func TestStep(t *testing.T) {
	broken := "```js\nconst all = await fs.list_directory({path: ''});\nconsole.log(task);\nall.nope.x\n```"
	file, dir := recordRun(t, 0, broken, aggregate("", "r"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run(t, t.Context(), "-trajectory", file, "-step", "1")
	for _, want := range []string{
		"│ all.nope.x", `call fs.list_directory({"path":""})`, "sales-01.csv", "│ Add up.", "✗ line 3", "the same as recorded",
	} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("code %d, stdout does not contain %q:\n%s%s", code, want, stdout, stderr)
		}
	}
	code, stdout, stderr = run(t, t.Context(), "-trajectory", file, "-step", "2")
	if code != 0 || !strings.Contains(stdout, `submitted {"answer":"3 files: `) {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "report.json")); err == nil {
		t.Error("step 2 wrote the file again")
	}
}

// What differs from the record is printed.
func TestStepDiffers(t *testing.T) {
	file, _ := recordRun(t, 0, "```js\nconst all = await fs.list_directory({path: ''}); console.log(1)\n```",
		"```js\nsubmit({answer: 'x'})\n```")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []struct{ old, new, want string }{
		{`"text": "1\n"`, `"text": "2\n"`, "\n- │ 2\n+ │ 1\n"},
		{`console.log(1)`, `throw 7`, "\n- console:\n+ failed:\n"},
		{`"tool": "fs.list_directory"`, `"tool": "fs.list"`, "there is no recorded result for fs.list_directory("},
	} {
		changed := strings.ReplaceAll(string(text), edit.old, edit.new)
		if changed == string(text) {
			t.Fatalf("the file has no %s", edit.old)
		}
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := run(t, t.Context(), "-trajectory", file, "-step", "1")
		if code != 1 || !strings.Contains(stdout+stderr, edit.want) {
			t.Errorf("%s: code %d\n%s%s", edit.new, code, stdout, stderr)
		}
	}
	code, _, stderr := run(t, t.Context(), "-trajectory", file, "-step", "3")
	if want := "has 2 steps; pass -step with one of them"; code != 1 || !strings.Contains(stderr, want) {
		t.Errorf("code %d\n%s", code, stderr)
	}
	if code, _, stderr = run(t, t.Context(), "-step", "1"); code != 2 {
		t.Errorf("code %d without a file\n%s", code, stderr)
	}
}
