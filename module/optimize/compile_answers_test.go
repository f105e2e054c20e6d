package optimize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module/evaluate"
)

// Expected answers are found in a moment, however many examples there are, and only as long as the caller waits.
func TestAnswersOfManyExamples(t *testing.T) {
	t.Parallel()
	input := strings.Repeat("abcdefg ", 2_000)
	var all []evaluate.Example[string, string]
	for i := range 2_000 {
		all = append(all, evaluate.Example[string, string]{In: input, Want: fmt.Sprint("abcdefh", i)})
	}
	began := time.Now()
	a, err := expectedAnswers("", all[:1_000], all[1_000:])
	if err != nil {
		t.Fatal(err)
	}
	problem, err := a.problem(t.Context(), `submit(['abcdefh7', 'abcdefh2000'][n])`)
	if err != nil || !strings.HasPrefix(problem, `it contains expected answers: "abcdefh7";`) {
		t.Errorf("got %q, %v", problem, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if problem, err := a.problem(ctx, `'abcdefh7'`); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was canceled: %q, %v", problem, err)
	}
}
