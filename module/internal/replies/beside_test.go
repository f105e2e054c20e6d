package replies_test

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/module/internal/replies"
)

// TestCallsBesideProse reads replies of ReAct with prose beside their fields: what is
// said there may be about anything, or that the call is not to be made.
func TestCallsBesideProse(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"meant": false, "unmeant": true} {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "calls", name+".txtar"))
		if err != nil || len(archive.Files) == 0 {
			t.Fatal(err, "no replies")
		}
		for _, f := range archive.Files {
			if got := replies.Hesitates(string(f.Data)); got != want {
				t.Errorf("%s/%s: hesitates %v, want %v: %s", name, f.Name, got, want, f.Data)
			}
		}
	}
}
