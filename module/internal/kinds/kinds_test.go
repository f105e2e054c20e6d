package kinds

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature"
)

func TestOf(t *testing.T) {
	t.Parallel()
	const nested = "order: {express: bool, note: Optional[str], lines: list[{amount: float, unit: Literal['l']}]} -> n"
	for _, c := range []struct{ signature, input, want string }{
		{"a: bool, b: bool -> n", `{"a": true, "b": false}`, ".a is true; .b is false"},
		{"a: int, b: float, c: int -> n", `{"a": 0, "b": -0.5, "c": 7}`, ".a is zero; .b is negative; .c is positive"},
		{"a: str, b: str, c: list[str] -> n", `{"a": "", "b": "x", "c": []}`, ".a is empty; .b is not empty; .c is empty"},
		{"a: Literal['x', 'y'], b: Literal[1, 2] -> n", `{"a": "x", "b": 2}`, `.a is "x"; .b is 2`},
		{"a: Optional[Literal['x', 'y']] -> n", `{"a": "x"}`, `.a is "x"`},
		{"a: Optional[int], b: Optional[int] -> n", `{"a": null}`, ".a is null; .b is absent"},
		{"a: Optional[{b: Optional[str]}] -> n", `{"a": {}}`, ".a is empty; .a.b is absent"},
		{"a: dict[str, list[int]] -> n", `{"a": {"x": [], "y": [-1]}}`,
			".a is not empty; .a.* is empty; .a.* is not empty; .a.*[] is negative"},
		{"a: Optional[list[bool]] -> n", `{"a": [true, false]}`, ".a is not empty; .a[] is false; .a[] is true"},
		{"a -> n", `{"a": "x", "b": {"c": 1}}`, ".* is not empty; .*.* is positive; .a is not empty"},
		{nested, `{"order": {"express": true, "lines": [{"amount": 0, "unit": "l"}, {"amount": 2, "unit": "l"}]}}`,
			`.order is not empty; .order.express is true; .order.lines is not empty; .order.lines[] is not empty; ` +
				`.order.lines[].amount is positive; .order.lines[].amount is zero; .order.lines[].unit is "l"; ` +
				`.order.note is absent`},
	} {
		sig := signature.Must(signature.Parse(c.signature, ""))
		got := Of(sig.Spec().InputSchema(), json.RawMessage(c.input))
		if want := strings.Split(c.want, "; "); !slices.Equal(got, want) {
			t.Errorf("%s: got  %q\nwant %q", c.signature, got, want)
		}
	}
}
