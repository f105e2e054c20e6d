package esbuild

import (
	"fmt"
	"strings"
	"unicode"
)

// property is a class of characters that a pattern may name: \p{Letter}.
type property func(rune) bool

// propertyOf finds a property by the name that a pattern has for it.
func propertyOf(name string) (property, bool) {
	key, name, valued := strings.Cut(name, "=")
	switch {
	case !valued:
		name = key
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
		table, ok := unicode.Scripts[name]
		return in(table), ok
	case key != "General_Category" && key != "gc":
		return nil, false
	}
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	table, ok := unicode.Categories[name]
	return in(table), ok
}

func in(tables ...*unicode.RangeTable) property {
	return func(r rune) bool { return unicode.In(r, tables...) }
}

func within(ranges []rune) property {
	return func(r rune) bool {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return true
			}
		}
		return false
	}
}

// derived are properties that consist of others.
var derived = map[string]property{
	"Any":        func(rune) bool { return true },
	"ASCII":      func(r rune) bool { return r <= unicode.MaxASCII },
	"Assigned":   func(r rune) bool { return !unicode.Is(unicode.Cn, r) },
	"Alphabetic": in(unicode.L, unicode.Nl, unicode.Other_Alphabetic),
	"Alpha":      in(unicode.L, unicode.Nl, unicode.Other_Alphabetic),
	"Lowercase":  in(unicode.Ll, unicode.Other_Lowercase),
	"Uppercase":  in(unicode.Lu, unicode.Other_Uppercase),
	"ID_Start":   beginsName,
	"ID_Continue": func(r rune) bool {
		return beginsName(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) &&
			!unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
	},
}

func beginsName(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) && !unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
}

// class writes the characters that have a property, or with ^ before its name those
// that lack it, as the inside of a class of a pattern with the flag u.
func class(name string) (text string, ok bool) {
	name, negated := strings.CutPrefix(name, "^")
	has, ok := propertyOf(name)
	if !ok {
		return "", false
	}
	var b strings.Builder
	start := rune(-1)
	end := func(last rune) {
		if start >= 0 {
			writeRange(&b, start, last)
			start = -1
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == 0xD800 { // no pattern of the engine sees half a character
			end(r - 1)
			r = 0xE000
		}
		if has(r) == negated {
			end(r - 1)
		} else if start < 0 {
			start = r
		}
	}
	end(unicode.MaxRune)
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
