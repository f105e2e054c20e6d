package journal_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// A call of an idempotent tool that is sent again, because its outcome is unknown, has the ID of the first one.
func TestEffectID(t *testing.T) {
	t.Parallel()
	var ids []string
	outcomes := []error{context.DeadlineExceeded, context.DeadlineExceeded, nil, nil}
	set, err := tools.NewSet(t.Context(), &tools.Tool{Name: "put", Hints: tools.Hints{Class: tools.Idempotent},
		Handler: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			ids = append(ids, tools.EffectID(ctx))
			return nil, outcomes[len(ids)-1]
		}})
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(&journal.Options{Run: "r"})
	call := func(repeat *tools.Repeat) {
		_, _ = dispatch.New(set, j.Attempt()).Issue(tools.Call{Args: []byte("{}"), Repeat: repeat}, 0).Perform(t.Context())
	}
	call(nil)
	call(nil)
	call(nil)
	call(&tools.Repeat{Again: []string{"E3"}}) // on purpose
	if want := []string{"r:E1", "r:E1", "r:E1", "r:E4"}; !slices.Equal(ids, want) {
		t.Errorf("got %s, want %s", strings.Join(ids, " "), strings.Join(want, " "))
	}
}
