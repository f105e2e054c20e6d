package vm

import (
	"fmt"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// collation holds the options for localeCompare.
type collation struct {
	numeric     bool
	sensitivity string
}

// collateBy are the collator options for each sensitivity.
var collateBy = map[string][]collate.Option{
	"variant": nil,
	"accent":  {collate.IgnoreCase, collate.IgnoreWidth},
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
		return r.vm.ToValue(r.collator(by).CompareString(norm.NFD.String(this), norm.NFD.String(that)))
	})
}

// collation parses the options for localeCompare. It throws if they are not supported.
func (r *machine) collation(options *goja.Object) collation {
	if v := options.Get("ignorePunctuation"); v != nil && v.ToBoolean() {
		panic(r.rangeError("localeCompare cannot ignore punctuation; remove it from the strings first"))
	}
	if first := r.option(options, "caseFirst", "false"); first != "false" {
		panic(r.rangeError(fmt.Sprintf("localeCompare does not support caseFirst %q; compare by hand", first)))
	}
	by := collation{sensitivity: r.option(options, "sensitivity", "variant")}
	if _, known := collateBy[by.sensitivity]; !known {
		panic(r.rangeError(fmt.Sprintf("localeCompare does not support the sensitivity %q", by.sensitivity)))
	}
	if v := options.Get("numeric"); v != nil {
		by.numeric = v.ToBoolean()
	}
	return by
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
