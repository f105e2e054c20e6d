package vm

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// goja has no Intl: its toLocaleString ignores all options and uses the locale as the radix. The common formats of
// en-US are implemented here, as in other engines. For other formats, the functions throw instead of returning a wrong
// result.

// addLocales replaces the toLocale… methods of numbers and dates.
func (r *machine) addLocales() {
	r.replaceLocale("Number", "toLocaleString", r.localNumber)
	for name, forms := range map[string]struct{ date, time bool }{
		"toLocaleString": {true, true}, "toLocaleDateString": {true, false}, "toLocaleTimeString": {false, true},
	} {
		r.replaceLocale("Date", name, func(c goja.FunctionCall) string {
			return r.localDate(name, c, forms.date, forms.time)
		})
	}
}

func (r *machine) replaceLocale(class, name string, write func(goja.FunctionCall) string) {
	r.replace(r.prototype(class), name, func(_ goja.Callable, c goja.FunctionCall) goja.Value {
		return r.vm.ToValue(write(c))
	})
}

// refuseLocale throws an error with the message what and the advice to format by hand.
func (r *machine) refuseLocale(what string) {
	panic(r.rangeError(what + "; format by hand"))
}

// checkLocale throws unless the locale is en-US, en, empty or missing.
func (r *machine) checkLocale(method string, v goja.Value) {
	list := []string{v.String()}
	if array, ok := v.(*goja.Object); ok && array.ClassName() == "Array" {
		list = strings.Split(v.String(), ",")
	}
	if goja.IsUndefined(v) || list[0] == "en-US" || list[0] == "en" || list[0] == "" {
		return
	}
	r.refuseLocale(fmt.Sprintf("%s supports only the locale en-US, not %q", method, list[0]))
}

// numberFormat holds the supported toLocaleString options.
type numberFormat struct {
	minDigits, maxDigits int // decimals
	suffix               string
	prefix               string
	scale                float64
	plain                bool // without thousands separators
}

var currencySigns = map[string]string{"USD": "$", "EUR": "€", "GBP": "£", "INR": "₹", "CNY": "CN¥", "JPY": "¥"}

func (r *machine) numberFormat(v goja.Value) numberFormat {
	f := numberFormat{maxDigits: 3, scale: 1}
	options, ok := v.(*goja.Object)
	if !ok {
		return f
	}
	for _, key := range options.Keys() {
		switch key {
		case "style", "currency", "minimumFractionDigits", "maximumFractionDigits", "useGrouping":
		default:
			r.refuseLocale("toLocaleString does not support the option " + key)
		}
	}
	switch style := r.option(options, "style", "decimal"); style {
	case "decimal":
	case "percent":
		f.suffix, f.scale, f.maxDigits = "%", 100, 0
	case "currency":
		code := strings.ToUpper(r.option(options, "currency", ""))
		sign, known := currencySigns[code]
		if !known {
			r.refuseLocale(fmt.Sprintf("toLocaleString does not support the currency %q", code))
		}
		if f.prefix, f.minDigits, f.maxDigits = sign, 2, 2; code == "JPY" {
			f.minDigits, f.maxDigits = 0, 0
		}
	default:
		r.refuseLocale(fmt.Sprintf("toLocaleString does not support the style %q", style))
	}
	f.plain = r.option(options, "useGrouping", "true") == "false"
	r.digits(options, &f)
	return f
}

func (r *machine) option(options *goja.Object, name, otherwise string) string {
	if v := options.Get(name); v != nil && !goja.IsUndefined(v) {
		return v.String()
	}
	return otherwise
}

// digits reads the options for the number of decimals.
func (r *machine) digits(options *goja.Object, f *numberFormat) {
	read := func(name string) (int, bool) {
		v := options.Get(name)
		if v == nil || goja.IsUndefined(v) {
			return 0, false
		}
		n := v.ToFloat()
		if !(n >= 0 && n <= 100) {
			panic(r.rangeError(name + " value is out of range."))
		}
		return int(n), true
	}
	low, hasLow := read("minimumFractionDigits")
	high, hasHigh := read("maximumFractionDigits")
	switch {
	case hasLow && hasHigh && low > high:
		panic(r.rangeError("maximumFractionDigits value is out of range."))
	case hasLow && hasHigh:
		f.minDigits, f.maxDigits = low, high
	case hasLow:
		f.minDigits, f.maxDigits = low, max(f.maxDigits, low)
	case hasHigh:
		f.minDigits, f.maxDigits = min(f.minDigits, high), high
	}
}

// localNumber implements Number.prototype.toLocaleString.
func (r *machine) localNumber(c goja.FunctionCall) string {
	n, ok := numberOf(c.This)
	if !ok {
		panic(r.typeError("Number.prototype.toLocaleString requires that 'this' be a Number"))
	}
	r.checkLocale("toLocaleString", c.Argument(0))
	f := r.numberFormat(c.Argument(1))
	switch n *= f.scale; {
	case math.IsNaN(n):
		return f.prefix + "NaN" + f.suffix
	case math.IsInf(n, 0):
		return sign(n) + f.prefix + "∞" + f.suffix
	}
	whole, fraction, _ := strings.Cut(rounded(math.Abs(n), f.maxDigits), ".")
	fraction = strings.TrimRight(fraction, "0")
	fraction += strings.Repeat("0", max(0, f.minDigits-len(fraction)))
	if fraction != "" {
		fraction = "." + fraction
	}
	if !f.plain {
		whole = grouped(whole)
	}
	return sign(n) + f.prefix + whole + fraction + f.suffix
}

func numberOf(v goja.Value) (float64, bool) {
	if goja.IsNumber(v) {
		return v.ToFloat(), true
	}
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Number" {
		return o.ToFloat(), true
	}
	return 0, false
}

func sign(n float64) string {
	if math.Signbit(n) {
		return "-"
	}
	return ""
}

// rounded writes a number with a number of decimals. It rounds the shortest decimal form,
// half away from zero: 1.005 becomes 1.01, although its binary value is a little less.
func rounded(n float64, digits int) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) <= digits {
		return text
	}
	decimal, _ := new(big.Rat).SetString(text)
	return decimal.FloatString(digits)
}

func grouped(whole string) string {
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole
}
