package conversationtest

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// TestSlips has every conversation of testdata/slips.
func testSlips(t *testing.T) []row {
	t.Helper()
	files, err := filepath.Glob(testdata + "slips/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no slips")
	}
	shared, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	var mu sync.Mutex
	var rows []row
	t.Run("slips", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				r := testSlip(t, file, shared)
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, r)
			})
		}
	})
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return rows
}

func TestConversation(t *testing.T) {
	t.Parallel()
	for _, r := range testSlips(t) {
		t.Log(r.name, r.verdict, r.tokens)
	}
}
