package sourcemap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/sourcemap"
)

func plain(mappings string) string {
	return fmt.Sprintf(`{"version":3,"sources":["a"],"names":["x"],"mappings":%q}`, mappings)
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	// Line 0: column 0 from 0:0, 4 from 0:8, 6 from nowhere. Line 2: column 2 from 5:3, with a name.
	m, err := sourcemap.Parse([]byte(plain("AAAA,IAAQ,E;;EAKLA")))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line, column int
		want         string
	}{
		{0, 0, "0:0+0"}, {0, 3, "0:0+3"}, {0, 4, "0:8+0"}, {0, 5, "0:8+1"}, {0, 6, ""}, {0, 99, ""},
		{1, 0, ""}, {2, 1, ""}, {2, 2, "5:3+0"}, {2, 99, "5:3+97"}, {3, 0, ""}, {-1, 0, ""},
	} {
		got := ""
		if line, column, behind, ok := m.Origin(test.line, test.column); ok {
			got = fmt.Sprintf("%d:%d+%d", line, column, behind)
		}
		if got != test.want {
			t.Errorf("the origin of %d:%d is %q, want %q", test.line, test.column, got, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ data, want string }{
		{`{`, "source map: unexpected end of JSON input"},
		{`{"version":2}`, "source map: version 2 is not supported, only version 3"},
		{`{"version":3,"sections":[]}`, "source map: sections are not supported"},
		{plain("AAAA;A!"), `source map: generated line 1: '!' is not a digit`},
		{plain("AA"), `source map: generated line 0: "AA" is not a segment`},
		{plain("g"), `source map: generated line 0: "g" is not a segment`},
		{plain("AAAAAA"), "source map: generated line 0: a number is too long, or there are too many numbers"},
		{plain("ggggggggA"), "source map: generated line 0: a number is too long, or there are too many numbers"},
		{plain("AADA"), "source map: generated line 0: a position is out of range"},
		{plain("ACAA"), "source map: generated line 0: a position is out of range"},
		{plain("D"), "source map: generated line 0: a position is out of range"},
	} {
		_, err := sourcemap.Parse([]byte(test.data))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.data, err, test.want)
		}
	}
}

// FuzzParse parses arbitrary maps. No origin may be negative.
func FuzzParse(f *testing.F) {
	seeds := []string{"AAAA,IAAQ,E;;EAKLA", "AAAA;AACA;AACA,EAAE", "gggggB", "A,A,AADA", strings.Repeat(";", 100)}
	for _, seed := range seeds {
		f.Add([]byte(plain(seed)))
	}
	f.Add([]byte(`{"version":3,"mappings":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := sourcemap.Parse(data)
		if err != nil {
			return
		}
		for line := range 20 {
			for column := range 20 {
				if l, c, behind, _ := m.Origin(line, column); min(l, c, behind) < 0 {
					t.Fatalf("%s: %d:%d has the origin %d:%d+%d", data, line, column, l, c, behind)
				}
			}
		}
	})
}
