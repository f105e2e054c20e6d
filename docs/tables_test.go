package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

var divider = regexp.MustCompile(`^\|(?: *:?-+:? *\|)+$`)

// TestTables checks that all rows of a table have the same number of cells, and that no cell of the
// comparison with earlier systems is empty, except in headings.
func TestTables(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, p := range pages(t) {
		width := 0
		for i, line := range strings.Split(fenced.ReplaceAllString(p.text, ""), "\n") {
			line = strings.ReplaceAll(line, `\|`, "")
			switch {
			case divider.MatchString(line):
				width = strings.Count(line, "|")
			case !strings.HasPrefix(line, "|"):
				width = 0
			case width == 0: // the head
			default:
				rows++
				if n := strings.Count(line, "|"); n != width {
					t.Errorf("%s: row %q has %d cells, not %d (line %d without blocks)", p.name, line, n-1, width-1, i+1)
				}
				if p.name == "docs/originals.md" && emptyCell(line) && !strings.HasPrefix(line, "| **") {
					t.Errorf("%s: a cell is empty in %q", p.name, line)
				}
			}
		}
	}
	if rows < 150 {
		t.Errorf("only %d rows were found", rows)
	}
}

func emptyCell(row string) bool {
	for cell := range strings.SplitSeq(strings.Trim(row, "|"), "|") {
		if strings.Trim(cell, " –-") == "" {
			return true
		}
	}
	return false
}
