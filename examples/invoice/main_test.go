package main

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module/llmtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), llmtest.New(script), &out); err != nil {
		t.Fatal(err)
	}
	want := `2025-0417 from Hansen Marine Supply AS, due 2025-04-13
   4 × Mooring rope, 14 mm, 50 m          890.00
   6 × Fender, inflatable, navy blue      345.50
   2 × Navigation light, LED             1120.00
total 9841.25; items and VAT add up to 9841.25
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
