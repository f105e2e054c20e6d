package typescript

import (
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/internal/bundling"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

type fakeFiles struct{}

func (fakeFiles) First(paths []string) (bundling.File, error) {
	return bundling.File{Path: paths[0]}, nil
}

// TestFileHostRepliesFirst checks that a worker cannot make the host work on many requests at once.
func TestFileHostRepliesFirst(t *testing.T) {
	t.Parallel()
	replied := false
	fileHost{files: fakeFiles{}}.Call(engine.Call{ID: 1, Args: json.RawMessage(`{"paths":["a"]}`)}, func(r engine.Reply) {
		replied = string(r.Value) == `{"path":"a","text":""}`
	})
	if !replied {
		t.Error("the request was not answered before Call returned")
	}
}
