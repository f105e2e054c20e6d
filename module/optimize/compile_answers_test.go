package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

func TestLiterals(t *testing.T) {
	t.Parallel()
	code := "const x1000 = 'it\\'s', y = \"a \\\"b\\\"\"; // 'don't' 2000\n" +
		"/* \"no\" 3000 */ const url = 'https://a.b/c', n = 1_500.25 + x1000.y2 / 4e3;\n" +
		"`${n} euros\nand ${y}`; 5000 / 2 / 'per'"
	want := []string{"it's", `a "b"`, "https://a.b/c", "1_500.25", "4e3", "${n} euros\nand ${y}", "5000", "2", "per"}
	if got := literals(code); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, hostile := range []string{"'", "`", "/*", "//", "\\'", "1_"} {
		literals(strings.Repeat(hostile, 30_000))
	}
}

// The bounds of Clopper and Pearson, from a table of the incomplete beta function.
func TestMayFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wrong, n, percent int }{
		{0, 1, 95}, {0, 10, 26}, {0, 20, 14}, {0, 59, 5}, {0, 5000, 1}, {1, 10, 40}, {1, 20, 22}, {5, 50, 20},
		{20, 20, 100}, {1000, 2000, 52},
	} {
		if got := mayFail(c.wrong, c.n); got != c.percent {
			t.Errorf("%d of %d: got %d, want %d", c.wrong, c.n, got, c.percent)
		}
	}
}
