package typescript

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// property is a set of characters that a pattern can name, as in \p{Letter}. It has the characters in the tables of
// in, except those in the tables of out.
type property struct{ in, out []*unicode.RangeTable }

func (p property) has(r rune) bool { return unicode.In(r, p.in...) && !unicode.In(r, p.out...) }

// propertyOf returns the property with the given name.
func propertyOf(name string) (property, bool) {
	key, value, valued := strings.Cut(name, "=")
	switch {
	case !valued:
		value = key
		if p, ok := derived[name]; ok {
			return p, true
		}
		if ranges, ok := emoji[name]; ok {
			return in(table(ranges)), true
		}
		if table, ok := unicode.Properties[name]; ok {
			return in(table), true
		}
	case key == "Script" || key == "sc":
		table, ok := unicode.Scripts[value]
		return in(table), ok
	case key != "General_Category" && key != "gc":
		return property{}, false
	}
	if short, ok := unicode.CategoryAliases[value]; ok {
		value = short
	}
	table, ok := unicode.Categories[value]
	return in(table), ok
}

// in returns the property that holds for exactly the characters in the tables.
func in(tables ...*unicode.RangeTable) property { return property{in: tables} }

// without returns p without the characters in the tables.
func (p property) without(tables ...*unicode.RangeTable) property { return property{p.in, tables} }

// table returns the table of ranges in the notation of [emoji].
func table(ranges string) *unicode.RangeTable {
	var t unicode.RangeTable
	for one := range strings.FieldsSeq(ranges) {
		first, last, _ := strings.Cut(one, "-")
		lo, _ := strconv.ParseUint(first, 16, 32)
		hi, _ := strconv.ParseUint(cmp.Or(last, first), 16, 32)
		t.R32 = append(t.R32, unicode.Range32{Lo: uint32(lo), Hi: uint32(hi), Stride: 1})
	}
	return &t
}

// edgesOf returns the first character of each range of the tables, and the first character
// after it.
func edgesOf(tables ...*unicode.RangeTable) (edges []rune) {
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			edges = append(edges, lo, hi+1)
			return
		}
		for r := lo; r <= hi; r += stride {
			edges = append(edges, r, r+1)
		}
	}
	for _, table := range tables {
		if table == nil {
			continue
		}
		for _, r := range table.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return edges
}

// derived contains the properties that combine several tables.
var derived = map[string]property{
	"Any":        in(table("0-10ffff")),
	"ASCII":      in(table("0-7f")),
	"Assigned":   in(table("0-10ffff")).without(unicode.Cn),
	"Alphabetic": in(unicode.L, unicode.Nl, unicode.Other_Alphabetic),
	"Alpha":      in(unicode.L, unicode.Nl, unicode.Other_Alphabetic),
	"Lowercase":  in(unicode.Ll, unicode.Other_Lowercase),
	"Uppercase":  in(unicode.Lu, unicode.Other_Uppercase),
	"ID_Start": in(unicode.L, unicode.Nl, unicode.Other_ID_Start).
		without(unicode.Pattern_Syntax, unicode.Pattern_White_Space),
	"ID_Continue": in(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc,
		unicode.Other_ID_Continue).
		without(unicode.Pattern_Syntax, unicode.Pattern_White_Space),
}

// The first and last surrogate. The engine's patterns never see a surrogate as a character.
const firstHalf, lastHalf = 0xD800, 0xDFFF

// class returns the characters that have a property or, if ^ precedes its name, the characters
// that lack it. The result is the inside of a character class in a pattern with the u flag.
func class(name string) (ranges string, ok bool) {
	name, negated := strings.CutPrefix(name, "^")
	p, ok := propertyOf(name)
	if !ok {
		return "", false
	}
	edges := append(edgesOf(slices.Concat(p.in, p.out)...), 0, firstHalf, lastHalf+1, unicode.MaxRune+1)
	slices.Sort(edges)
	var b strings.Builder
	start := rune(-1)
	for _, r := range slices.Compact(edges) {
		member := r <= unicode.MaxRune && (r < firstHalf || r > lastHalf) && p.has(r) != negated
		if member && start < 0 {
			start = r
		}
		if !member && start >= 0 {
			fmt.Fprintf(&b, `\u{%x}-\u{%x}`, start, r-1)
			start = -1
		}
	}
	return b.String(), true
}
