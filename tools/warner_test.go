package tools_test

import (
	"context"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
)

// warning is a source that knows its warnings only once it has been listed.
type warning struct{ listed bool }

func (w *warning) Tools(context.Context) ([]*tools.Tool, error) {
	w.listed = true
	return nil, nil
}

func (w *warning) Warnings() []string {
	if !w.listed {
		return []string{"not listed yet"}
	}
	return []string{"a tool was left out"}
}

func TestSetHasTheWarningsOfItsSources(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), &warning{}, &warning{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(set.Warnings(), "\n"); got != "a tool was left out\na tool was left out" {
		t.Errorf("warnings: %q", got)
	}
}
