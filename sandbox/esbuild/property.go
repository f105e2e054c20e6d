package esbuild

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// property is a set of characters that a pattern can name, as in \p{Letter}.
type property struct {
	has   func(rune) bool
	edges []rune // the characters at which the result of has may change
}

// propertyOf returns the property that has this name in patterns.
func propertyOf(name string) (property, bool) {
	key, value, valued := strings.Cut(name, "=")
	switch {
	case !valued:
		value = key
		if p, ok := derived[name]; ok {
			return p, true
		}
		if ranges, ok := emoji[name]; ok {
			return within(ranges), true
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

// in returns the property of being in one of the tables.
func in(tables ...*unicode.RangeTable) property {
	return property{func(r rune) bool { return unicode.In(r, tables...) }, edgesOf(tables...)}
}

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

// within returns the property of being in one of the ranges, which are given by their first
// and last characters.
func within(ranges []rune) property {
	p := property{has: func(r rune) bool {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return true
			}
		}
		return false
	}}
	for i := 0; i < len(ranges); i += 2 {
		p.edges = append(p.edges, ranges[i], ranges[i+1]+1)
	}
	return p
}

// without returns p without the characters in the tables.
func (p property) without(tables ...*unicode.RangeTable) property {
	return property{
		func(r rune) bool { return p.has(r) && !unicode.In(r, tables...) },
		append(edgesOf(tables...), p.edges...),
	}
}

// derived contains the properties that are combinations of others.
var derived = map[string]property{
	"Any":        within([]rune{0, unicode.MaxRune}),
	"ASCII":      within([]rune{0, unicode.MaxASCII}),
	"Assigned":   within([]rune{0, unicode.MaxRune}).without(unicode.Cn),
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

// class returns the characters that have a property or, if its name is preceded by ^, those
// that lack it. The text is the inside of a character class in a pattern with the u flag.
func class(name string) (text string, ok bool) {
	name, negated := strings.CutPrefix(name, "^")
	p, ok := propertyOf(name)
	if !ok {
		return "", false
	}
	edges := append([]rune{0, firstHalf, lastHalf + 1, unicode.MaxRune + 1}, p.edges...)
	slices.Sort(edges)
	var b strings.Builder
	start := rune(-1)
	for _, r := range slices.Compact(edges) {
		member := r <= unicode.MaxRune && (r < firstHalf || r > lastHalf) && p.has(r) != negated
		if member && start < 0 {
			start = r
		}
		if !member && start >= 0 {
			writeRange(&b, start, r-1)
			start = -1
		}
	}
	return b.String(), true
}

func writeRange(b *strings.Builder, first, last rune) {
	writeRune(b, first)
	if last > first {
		b.WriteByte('-')
		writeRune(b, last)
	}
}

func writeRune(b *strings.Builder, r rune) {
	if r > 0xFFFF {
		fmt.Fprintf(b, `\u{%x}`, r)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}
