package module_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

type haystack struct {
	Text string    `json:"text"`
	Rows []machine `json:"rows"`
}

// An input of 10 MB costs a few hundred tokens, and a program has all of it, in a worker too.
func TestTenMegabytes(t *testing.T) {
	t.Parallel()
	hay, rows := 2_500_000, 5_000
	if testing.Short() {
		hay, rows = hay/10, rows/10
	}
	in := haystack{Text: strings.Repeat("hay ", hay) + "needle"}
	for i := range rows {
		in.Rows = append(
			in.Rows,
			machine{ID: i, Name: fmt.Sprint("machine number ", i), Tags: []string{"one", "two", "three", "four", "five"}},
		)
	}
	box := openBox(t, sandbox.New, patiently(sandbox.Limits{}))
	sig := signature.Must(signature.New[haystack, sum]("Find it."))
	model := llmtest.New("```js\nsubmit({total: text.indexOf('needle') + rows.length})\n```")
	pred := mustRun(t, module.NewProgramOfThought(sig, model, box, nil), in)
	if pred.Output.Total != 4*hay+rows {
		t.Errorf("got %d", pred.Output.Total)
	}
	if n := len(model.Requests()[0].Last()); n > 4000 {
		t.Errorf("the prompt has %d bytes", n)
	}
}
