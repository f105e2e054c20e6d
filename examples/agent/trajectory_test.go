package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/testserver"
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

func readRecording(t *testing.T, file string) (r recording) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The trajectory of a run that fails is written, too.
func TestTrajectory(t *testing.T) {
	file, _ := recordRun(t, 0, "no program", aggregate("", "r"))
	r := readRecording(t, file)
	if task := r.inputs.Task; len(r.trajectory.Steps) != 2 || task != "Add up." {
		t.Errorf("got %d steps, task %s", len(r.trajectory.Steps), task)
	}
	file, _ = recordRun(t, 1, aggregate("", "r.no")) // then the model is overloaded
	if r = readRecording(t, file); r.trajectory.Err == nil || !strings.Contains(r.trajectory.Err.Error(), "overloaded") {
		t.Errorf("got the error %v", r.trajectory.Err)
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
	if r := readRecording(t, file); len(r.trajectory.Steps) != 1 || len(r.trajectory.Steps[0].Outcome.Calls) != 1 {
		t.Errorf("got %v", r.trajectory)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	id := resumes.FindStringSubmatch(stderr)
	if code, _, stderr = run(t, t.Context(), append(flags, "-resume", id[1])...); code != 3 {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if r := readRecording(t, file); r.inputs.Task != "Write a file." {
		t.Errorf("after -resume, the task is %q", r.inputs.Task)
	}
}
