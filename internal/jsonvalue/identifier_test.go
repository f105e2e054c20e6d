package jsonvalue_test

import (
	"testing"
	"unicode"

	"github.com/writ-go/writ/internal/jsonvalue"
)

func TestIdentifier(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "_": true, "$a1": true, "ß": true, "名": true, "if": true,
		"": false, "1a": false, "a b": false, "a-b": false, "a\u2028": false, "\xff": false,
	} {
		if jsonvalue.IsIdentifier(name) != want {
			t.Errorf("IsIdentifier(%q) is %v", name, !want)
		}
	}
}

// Identifiers consist of the characters of ID_Start and ID_Continue, as in ECMAScript.
func TestIdentifierRunes(t *testing.T) {
	t.Parallel()
	starts := []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_ID_Start}
	continues := append([]*unicode.RangeTable{unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue},
		starts...)
	is := func(r rune, tables []*unicode.RangeTable) bool {
		return r == '$' || r == '_' || unicode.In(r, tables...) &&
			!unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
	}
	for r := range unicode.MaxRune + 1 {
		if jsonvalue.IsIdentifier(string(r)) && !is(r, starts) {
			t.Errorf("%U may not begin a name", r)
		}
		if jsonvalue.IsIdentifier("a"+string(r)) && !is(r, continues) {
			t.Errorf("%U may not be in a name", r)
		}
	}
	for name, want := range map[string]bool{"\u2e2f": false, "a\u2e2f": false, "ä1": true, "1a": false, "変数": true} {
		if jsonvalue.IsIdentifier(name) != want {
			t.Errorf("%q is an identifier: %v", name, !want)
		}
	}
}
