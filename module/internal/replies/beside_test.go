package replies_test

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// call is what a reply of the sets gives.
type call struct {
	Thought string         `json:"next_thought,omitempty"`
	Tool    string         `json:"next_tool_name"`
	Args    map[string]any `json:"next_tool_args,omitempty"`
}

// TestCallsBesideProse reads replies of ReAct with prose beside their fields, and in the
// thought: what is said there may be about anything, or that the call is not to be made.
func TestCallsBesideProse(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[struct{}, call]("")).Spec()
	for name, want := range map[string]bool{"meant": false, "unmeant": true} {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "calls", name+".txtar"))
		if err != nil || len(archive.Files) == 0 {
			t.Fatal(err, "no replies")
		}
		for _, f := range archive.Files {
			values, _ := replies.Read(spec, string(f.Data), false, replies.Markers) // what cannot be read is not called
			thought, _ := values.Get("next_thought")
			if got := replies.Hesitates(string(f.Data), replies.PlainText(thought)); got != want {
				t.Errorf("%s/%s: hesitates %v, want %v: %s", name, f.Name, got, want, f.Data)
			}
		}
	}
}
