package tools_test

import (
	"testing"

	"github.com/writ-go/writ/tools"
)

func TestClassString(t *testing.T) {
	t.Parallel()
	for class, want := range map[tools.Class]string{tools.Effect: "effect", tools.Idempotent: "idempotent",
		tools.Read: "read", 7: "class 7"} {
		if got := class.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
