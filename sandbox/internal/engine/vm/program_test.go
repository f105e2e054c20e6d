package vm

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// goja's parser does not see programs on which it would take exponential time.
func TestInvalidProgramsAreRefusedEarly(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{":b+c=>1", ":b+(c)=>1"} {
		source := strings.Repeat("(a)?", 30) + "1" + strings.Repeat(tail, 90)
		if _, failure := parse(keyOf(&engine.Job{Source: source})); failure == nil {
			t.Errorf("%.80s: accepted", source)
		}
	}
}
