package optimize_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
)

// killDir names the environment variable with the directory of the search that TestKilled kills.
const killDir = "WRIT_TEST_OPTIMIZE_DIR"

// searchToKill is a search whose student writes a byte for each reply.
func searchToKill(ctx context.Context, dir string, w io.Writer) (string, error) {
	inner := learner()
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		response, err := inner.GenerateContent(ctx, r.Messages)
		if err != nil {
			return llmtest.Reply{}, err
		}
		fmt.Fprint(w, ".")
		return llmtest.Reply{Text: response.Choices[0].Content}, nil
	})
	r, err := optimize.Run(ctx, module.NewPredict(spelled, model, nil),
		optimize.BootstrapRandomSearch{BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 5}, Candidates: 3},
		numbersData(), right, &optimize.Options{Dir: dir, Seed: 3})
	if err != nil {
		return "", err
	}
	return outcome(r), nil
}

// TestKilled kills searches in other processes, and continues them here.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(killDir); dir != "" {
		_, _ = searchToKill(t.Context(), dir, os.Stdout)
		return
	}
	t.Parallel()
	var all bytes.Buffer
	want, err := searchToKill(t.Context(), t.TempDir(), &syncWriter{w: &all})
	if err != nil {
		t.Fatal(err)
	}
	source := rand.New(rand.NewPCG(1, 1))
	kills := 6
	if os.Getenv("WRIT_TEST_FULL") != "" {
		kills = 50
	}
	for range kills {
		dir, after := t.TempDir(), source.IntN(all.Len())
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), killDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		_, err = io.CopyN(io.Discard, out, int64(after))
		_ = child.Process.Kill()
		_ = child.Wait()
		if err != nil {
			t.Fatal(err)
		}
		var rest bytes.Buffer
		got, err := searchToKill(t.Context(), dir, &syncWriter{w: &rest})
		if err != nil || got != want {
			t.Errorf("killed after %d of %d replies: %v\ngot  %s\nwant %s", after, all.Len(), err, got, want)
		}
		if rest.Len() > all.Len()-after+8 { // the replies that workers had received and not yet written
			t.Errorf("killed after %d of %d replies: %d more were paid", after, all.Len(), rest.Len())
		}
	}
}

// syncWriter makes a buffer safe for concurrent use.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements [io.Writer].
func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
