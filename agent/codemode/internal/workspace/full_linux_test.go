package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/sandbox"
	"golang.org/x/sys/unix"
)

func init() { roles["full"] = full }

// full is the role of a process whose disk is full: its files can have at most 700 bytes.
func full(store *workspace.Store) error {
	signal.Ignore(unix.SIGXFSZ)
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 700, Max: 700}); err != nil {
		return err
	}
	ctx, ann := context.Background(), store.Space("ann")
	return lines(func(words []string) (string, error) {
		if words[0] == "append" {
			_, err := ann.Append(ctx, words[1], strings.Repeat("x", 700))
			return fmt.Sprint(err), nil
		}
		out, err := ann.RunSession(ctx, words[0], box, program(strings.Join(words[1:], " ")))
		if errors.Is(err, workspace.ErrNotStored) {
			return "not stored, " + shown(out, nil), nil
		}
		return shown(out, err), nil
	})
}

// TestFullDisk checks that nothing is stored incompletely and that previous changes remain.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	ann := store.Space("ann")
	file, handle := newFile(t, ann, "a", "before"), newSession(t, ann)
	c := start(t, "full", dir)
	defer c.end(t)
	if got, want := c.do(t, "append "+file.Handle),
		"workspace: the file was not written: write .tmp-"; !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, ": file too large") {
		t.Error(got)
	}
	holds(t, ann, file.Handle, "before")
	for _, step := range []struct{ source, want string }{
		{"let n = 1; n", "1"},
		{"n = 2; const long = '" + strings.Repeat("x", 600) + "'; n", "not stored, 2"},
		{"[n, typeof long]", `[1,"undefined"]`},
		{"n = 3; const long = '" + strings.Repeat("x", 600) + "'; n", "not stored, 3"},
	} {
		if got := c.do(t, handle+" "+step.source); got != step.want {
			t.Errorf("%.30s: got %s, want %s", step.source, got, step.want)
		}
	}
	if got := shown(ann.RunSession(t.Context(), handle, inProcess(t), program("n"))); got != "1" {
		t.Error(got)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
