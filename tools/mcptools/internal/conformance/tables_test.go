//go:build integration

package conformance

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The values of a cell in docs/conformance.md.
const (
	passes  = "yes"
	partly  = "partly"
	applies = "no" // does not
	lacks   = "–"  // the suite has no such scenario in the revision
)

// row is a row of a table: the results of one scenario.
type row struct {
	cells map[string]string // by revision
	why   string
}

// readTable reads the table under a heading of docs/conformance.md.
func readTable(t *testing.T, heading string) map[string]row {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "## "+heading+"\n")
	section, _, _ := strings.Cut(after, "\n## ")
	var head []string
	rows := map[string]row{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), " |")
		name := strings.Trim(strings.TrimPrefix(cells[0], "|"), " `")
		switch {
		case !strings.HasPrefix(line, "| "):
		case head == nil:
			head = cells
		default:
			rows[name] = newRow(head, cells)
		}
	}
	if !found || len(rows) == 0 {
		t.Fatalf("docs/conformance.md has no table under %q", heading)
	}
	return rows
}

func newRow(head, cells []string) row {
	last := len(head) - 2 // a line ends with a border
	r := row{cells: map[string]string{}, why: strings.TrimSpace(cells[last])}
	for i := 1; i < last; i++ {
		r.cells[strings.TrimSpace(head[i])] = strings.TrimSpace(cells[i])
	}
	return r
}

var checkName = regexp.MustCompile("`(sep-[^`]*)`")

// excused returns the checks that the row lists as failed.
func (r row) excused() []string {
	var names []string
	for _, m := range checkName.FindAllStringSubmatch(r.why, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// compare compares a table with the results of the suite.
func compare(t *testing.T, rows map[string]row, revision string, found map[string]verdict) {
	t.Helper()
	for name, r := range rows {
		v, ran := found[name]
		if r.why == "" && strings.Contains(strings.Join(values(r.cells), " "), applies) {
			t.Errorf("%s: the table gives no reason", name)
		}
		switch cell := r.cells[revision]; cell {
		case passes:
			if !v.passed() {
				t.Errorf("%s does not pass: %+v", name, v)
			}
		case partly:
			if v.successes == 0 || !slices.Equal(v.failed(), r.excused()) {
				t.Errorf("%s: failed %q, and the table says %q: %+v", name, v.failed(), r.excused(), v)
			}
		case applies:
			if v.passed() {
				t.Errorf("%s passes, and the table says that it does not apply", name)
			}
		case lacks:
			if ran {
				t.Errorf("%s ran, and the table says that revision %s has no such scenario", name, revision)
			}
		default:
			t.Errorf("%s: the table says %q of revision %s", name, cell, revision)
		}
	}
	for name := range found {
		if _, known := rows[name]; !known {
			t.Errorf("%s is missing in the table", name)
		}
	}
}

func values(m map[string]string) []string {
	var list []string
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
