package replies

import (
	"encoding/csv"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

var tableRule = regexp.MustCompile(`^\|?(?:\s*:?-{2,}:?\s*\|)*\s*:?-+:?\s*\|?$`)

// rowsOf reads a Markdown table: its heads, and the rows below.
func rowsOf(text string) [][]string {
	lines := linesOf(text)
	if len(lines) < 3 || !strings.Contains(lines[0], "|") || !strings.Contains(lines[1], "-") || !tableRule.MatchString(strings.TrimSpace(lines[1])) {
		return nil
	}
	rows := [][]string{cells(lines[0])}
	for _, line := range lines[2:] {
		row := cells(line)
		if len(row) != len(rows[0]) || !strings.Contains(line, "|") {
			return nil
		}
		rows = append(rows, row)
	}
	return rows
}

func cells(line string) []string {
	line = strings.TrimSpace(line)
	row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i, cell := range row {
		row[i] = strings.TrimSpace(cell)
	}
	return row
}

// table reads a Markdown table as items, of which the heads are the members.
func table(text string) (node, bool) { return rowNodes(rowsOf(text)) }

// records reads lines with commas between their values, below one with the names.
func records(text string) (node, bool) {
	first, rest, ok := strings.Cut(strings.TrimSpace(text), "\n")
	at := strings.IndexAny(first, "\t;,")
	if !ok || at < 0 || strings.ContainsAny(first, ":.|") || blank(rest) {
		return node{}, false
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = rune(first[at])
	rows, err := r.ReadAll()
	if err != nil {
		return node{}, false
	}
	return rowNodes(rows)
}

// rowNodes makes an item of each row. Of a column that only counts the rows, and
// is headed so, nothing is taken.
func rowNodes(rows [][]string) (n node, ok bool) {
	if len(rows) < 2 {
		return n, false
	}
	for _, row := range rows[1:] {
		var item node
		for i, cell := range row {
			if head := rows[0][i]; head != "#" && !strings.EqualFold(head, "no.") {
				item.members = append(item.members, branch{bare(head), node{text: bare(cell)}})
			}
		}
		n.items = append(n.items, item)
	}
	if listed := valuesOf(n.items); listed != nil {
		n.items = listed
	}
	return n, true
}

// valuesOf are the values of items that have one member each.
func valuesOf(items []node) (values []node) {
	for _, item := range items {
		if len(item.members) != 1 {
			return nil
		}
		values = append(values, item.members[0].node)
	}
	return values
}

// bare takes a name or a cell out of bold print or backticks.
func bare(cell string) string {
	for _, mark := range []string{"**", "`"} {
		if inner, ok := within(cell, mark); ok {
			return strings.TrimSpace(inner)
		}
	}
	return strings.TrimSpace(cell)
}

// readTable reads a reply that is a table: with the fields as its heads, or in its
// first column.
func readTable(r reply) (signature.Values, error) {
	if !strings.Contains(r.text, "|") || !strings.Contains(r.text, "--") {
		return nil, nil
	}
	rows := rowsOf(announced(Unfence(strings.TrimSpace(r.text))))
	if rows == nil {
		return nil, nil
	}
	if len(rows) == 2 {
		if fields := r.cells(rows[0], rows[1]); fields != nil {
			return r.settle(fields, "")
		}
	}
	if len(rows[0]) != 2 {
		return nil, nil
	}
	var names, values []string
	for _, row := range rows[1:] {
		names, values = append(names, row[0]), append(values, row[1])
	}
	if fields := r.cells(names, values); fields != nil {
		return r.settle(fields, "")
	}
	return nil, nil
}

// cells are the fields of which the names stand beside the values, nil if one is
// of no output.
func (r reply) cells(names, values []string) map[string]given {
	fields := map[string]given{}
	for i, name := range names {
		f, ok := named(r.outputs, bare(name))
		if _, twice := fields[f.Name]; !ok || twice {
			return nil
		}
		fields[f.Name] = given{text: values[i], loose: true}
	}
	return fields
}
