package show_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
)

// The report of a run that failed is written, too, and the error of the run is returned.
func TestReport(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.html")
	part := &module.IncompleteError{Err: errors.New("no luck"), Trajectory: module.Trajectory{
		Steps: []module.Step{{Reply: "I give up."}}}}
	for text, failure := range map[string]error{"I give up.": part, "no server": errors.New("no server")} {
		if err := show.Report[string](path, "why?", nil, failure); !errors.Is(err, failure) {
			t.Errorf("got %v, want %v", err, failure)
		}
		if html, err := os.ReadFile(path); err != nil || !strings.Contains(string(html), text) {
			t.Errorf("the report: %v\n%s", err, html)
		}
	}
	if err := show.Report[string](filepath.Dir(path), nil, &module.Prediction[string]{}, nil); err == nil {
		t.Error("a report was written to a folder")
	}
}
