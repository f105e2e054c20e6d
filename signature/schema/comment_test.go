package schema_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/writ-go/writ/signature/schema"
)

// TestNanoseconds checks that the unit of a duration is shown everywhere, even if
// descriptions are left out.
func TestNanoseconds(t *testing.T) {
	t.Parallel()
	type wait struct {
		For   time.Duration              `json:"for" jsonschema:"minimum=0,description=How long to wait."`
		Least *time.Duration             `json:"least"`
		Steps []time.Duration            `json:"steps"`
		Table [][]time.Duration          `json:"table" jsonschema:"description=By row."`
		By    map[string][]time.Duration `json:"by"`
		Last  struct {
			Pause [2]time.Duration `json:"pause"`
		} `json:"last"`
	}
	tests := []struct{ of, docs, bare string }{
		{"time.Duration", `number /* nanoseconds */`, `number /* nanoseconds */`},
		{"[]time.Duration", `number[] /* nanoseconds */`, `number[] /* nanoseconds */`},
		{"map[string]time.Duration", `Record<string, number> /* nanoseconds */`, `Record<string, number> /* nanoseconds */`},
		{
			"schema_test.wait",
			`{for: number /* integer, ≥ 0, nanoseconds. How long to wait. */; least?: number | null /* integer, ` +
				`nanoseconds */; steps: number[] /* each integer, nanoseconds */; ` +
				`table: number[][] /* nanoseconds. By row. */; by: Record<string, number[]> /* nanoseconds */; last: {pause: ` +
				`number[] /* 2 items, each integer, nanoseconds */}}`,
			`{for: number /* nanoseconds */; least?: number | null /* nanoseconds */; steps: number[] /* nanoseconds */; ` +
				`table: number[][] /* nanoseconds */; by: Record<string, number[]> /* nanoseconds */; last: {pause: number[] ` +
				`/* nanoseconds */}}`,
		},
	}
	for i, of := range []any{time.Duration(0), []time.Duration{}, map[string]time.Duration{}, wait{}} {
		s, err := schema.Of(reflect.TypeOf(of))
		if err != nil {
			t.Fatal(err)
		}
		test := tests[i]
		if got := s.TypeScript(nil); got != test.docs {
			t.Errorf("%s:\ngot  %s\nwant %s", test.of, got, test.docs)
		}
		if got := s.TypeScript(&schema.TypeOptions{}); got != test.bare {
			t.Errorf("%s without comments:\ngot  %s\nwant %s", test.of, got, test.bare)
		}
	}
}

// TestSmallNumbers checks that values out of range for a Go type are reported with the
// other problems, and that only narrow ranges are shown.
func TestSmallNumbers(t *testing.T) {
	t.Parallel()
	type small struct {
		A int8    `json:"a"`
		B uint8   `json:"b" jsonschema:"minimum=-1,maximum=300"`
		C []int16 `json:"c" jsonschema:"minimum=3,maximum=70000"`
		D int32   `json:"d"`
		E uint32  `json:"e"`
		F float32 `json:"f"`
		G uint8   `json:"g" jsonschema:"enum=1,enum=2"`
		H uint8   `json:"h,string"`
	}
	s, err := schema.Of(reflect.TypeFor[small]())
	if err != nil {
		t.Fatal(err)
	}
	const typ = `{a: number /* integer, -128–127 */; b: number /* integer, 0–255 */; c: number[] /* each ` +
		`integer, 3–32767 */; d: number /* integer */; e: number /* integer, ≥ 0 */; f: number; g: 1 | 2; h: string}`
	if got := s.TypeScript(nil); got != typ {
		t.Errorf("got  %s\nwant %s", got, typ)
	}
	const wrong = `a must be at most 127, not 300; b must be at most 255, not 256; c[0] must be at most 32767, not ` +
		`40000; ` +
		`d must be at most 2147483647, not 2147483648; e must be at most 4294967295, not 4294967296; f must be at most ` +
		`340282346638528859811704183484516925440, not 1e39`
	if got := schema.Summary(s.Validate([]byte(`{"a": 300, "b": 256, "c": [40000], "d": 2147483648, "e": 4294967296, ` +
		`"f": 1e39, "g": 1, "h": "7"}`))); got != wrong {
		t.Errorf("got  %s\nwant %s", got, wrong)
	}
}
