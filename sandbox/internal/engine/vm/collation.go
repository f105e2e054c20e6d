package vm

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// collation holds the options of localeCompare.
type collation struct {
	numeric     bool
	sensitivity string
}

// collateBy are the collator options for each sensitivity. For "case", marks are removed
// from the strings instead, because the collator would still notice them.
var collateBy = map[string][]collate.Option{
	"variant": nil,
	"accent":  {collate.IgnoreCase, collate.IgnoreWidth},
	"case":    nil,
	"base":    {collate.IgnoreCase, collate.IgnoreWidth, collate.IgnoreDiacritics},
}

// addLocaleCompare makes localeCompare follow its options. The locale is ignored.
func (r *machine) addLocaleCompare() {
	r.replace(r.prototype("String"), "localeCompare", func(next goja.Callable, c goja.FunctionCall) goja.Value {
		options, ok := c.Argument(2).(*goja.Object)
		if !ok || goja.IsUndefined(c.This) || goja.IsNull(c.This) {
			return r.call(next, c)
		}
		by := r.collation(options)
		if by == (collation{sensitivity: "variant"}) {
			return r.call(next, c)
		}
		this, that := r.textOf(c.This).String(), r.textOf(c.Argument(0)).String()
		return r.vm.ToValue(r.collator(by).CompareString(by.normal(this), by.normal(that)))
	})
}

// collation reads the options. It throws if they are not supported.
func (r *machine) collation(options *goja.Object) collation {
	if v := options.Get("ignorePunctuation"); v != nil && v.ToBoolean() {
		panic(r.rangeError("localeCompare cannot ignore punctuation; remove it from the texts first"))
	}
	if first := r.option(options, "caseFirst", "false"); first != "false" {
		panic(r.rangeError(fmt.Sprintf("localeCompare does not support caseFirst %q; compare by hand", first)))
	}
	by := collation{sensitivity: r.option(options, "sensitivity", "variant")}
	if _, known := collateBy[by.sensitivity]; !known {
		message := "Value %s out of range for Intl.Collator options property sensitivity"
		panic(r.rangeError(fmt.Sprintf(message, by.sensitivity)))
	}
	if v := options.Get("numeric"); v != nil {
		by.numeric = v.ToBoolean()
	}
	return by
}

// normal returns the form of a string that is compared.
func (by collation) normal(text string) string {
	text = norm.NFD.String(text)
	if by.sensitivity != "case" {
		return text
	}
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Mn, c) {
			return -1
		}
		return c
	}, text)
}

func (r *machine) collator(by collation) *collate.Collator {
	c := r.collators[by]
	if c == nil {
		options := collateBy[by.sensitivity]
		if by.numeric {
			options = append(options[:len(options):len(options)], collate.Numeric)
		}
		c = collate.New(language.Und, options...)
		engine.Put(&r.collators, by, c)
	}
	return c
}
