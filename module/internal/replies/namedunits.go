package replies

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The name of a field may say in which unit its numbers are: weightKg, price_eur. Then a
// number with another unit is another number.

// onlyInNames are units by words that mean something else where they stand alone, or that
// hardly anything else is measured in, with the words for them beside a number.
var onlyInNames = map[string]map[string]bool{
	"k": wordSet("k °k kelvin"), "b": wordSet("b byte bytes"), "us": wordSet("us µs μs"), "ns": wordSet("ns"), "d": wordSet("d day days"),
	"hz": wordSet("hz hertz"), "khz": wordSet("khz"), "mhz": wordSet("mhz"), "ghz": wordSet("ghz"), "rpm": wordSet("rpm"), "bpm": wordSet("bpm"), "fps": wordSet("fps"),
	"kib": wordSet("kib"), "mib": wordSet("mib"), "gib": wordSet("gib"), "tib": wordSet("tib"), "pb": wordSet("pb"),
	"bits": wordSet("bit bits"), "kbps": wordSet("kbps kbit/s"), "mbps": wordSet("mbps mbit/s"), "gbps": wordSet("gbps gbit/s"),
	"pa": wordSet("pa pascal"), "hpa": wordSet("hpa"), "kpa": wordSet("kpa"), "mpa": wordSet("mpa"), "bar": wordSet("bar"), "mbar": wordSet("mbar"), "psi": wordSet("psi"), "atm": wordSet("atm"),
	"v": wordSet("v volt volts"), "mv": wordSet("mv"), "kv": wordSet("kv"), "ma": wordSet("ma"), "mah": wordSet("mah"), "ohm": wordSet("ohm ohms ω"),
	"mw": wordSet("mw"), "gw": wordSet("gw"), "wh": wordSet("wh"), "mwh": wordSet("mwh"), "gwh": wordSet("gwh"), "btu": wordSet("btu"), "cal": wordSet("cal"), "mj": wordSet("mj"),
	"um": wordSet("µm μm um"), "nm": wordSet("nm"), "dm": wordSet("dm"), "px": wordSet("px pixel pixels"), "stone": wordSet("st stone"), "qt": wordSet("qt quart quarts"), "floz": wordSet("floz"), "hl": wordSet("hl"),
	"deg": wordSet("° deg degree degrees"), "rad": wordSet("rad"), "ppm": wordSet("ppm"), "ppb": wordSet("ppb"), "bps": wordSet("bp bps"), "promille": wordSet("‰ promille"),
	"quarters": wordSet("quarter quarters"), "decades": wordSet("decade decades"), "centuries": wordSet("century centuries"),
	"dpi": wordSet("dpi"), "ppi": wordSet("ppi"), "db": wordSet("db"), "mpg": wordSet("mpg"), "lux": wordSet("lux lx"), "lumens": wordSet("lm lumen lumens"), "mol": wordSet("mol"),
	"m2": wordSet("m² sqm"), "km2": wordSet("km²"), "ft2": wordSet("ft² sqft"), "m3": wordSet("m³"),
	"cents": minor, "cent": minor, "ct": minor, "pence": minor, "pennies": minor,
}

// minor are words for the parts of a currency.
var minor = wordSet("cents cent ct c ¢ pence p pennies")

// unitInName is the unit that the name of a field says: km of km_driven.
func (s shape) unitInName() string {
	own := wordsOf(spaced.Replace(s.name))
	for i, w := range slices.Backward(own) {
		last := i == len(own)-1
		if _, kind := unitOf(w); kind != "" && (last || len(w) > 1 && !otherwise[w]) || onlyInNames[w] != nil && (last || len(w) > 3) {
			return w
		}
	}
	return ""
}

// otherwise are words in names that are units only at their end.
var otherwise = wordSet("min in second day hour time")

// isUnit reports whether what is behind a number is a unit that a name says.
func isUnit(own, behind string) bool {
	synonyms, _ := unitOf(behind)
	return own == behind || slices.Contains(synonyms, own) || onlyInNames[own][behind]
}

// otherUnit reports whether what stands beside a number has a unit or a currency that is
// another than the one which the name of the field says. One of another kind, in a text, may
// be of something else: an hour beside kilometers.
func (s shape) otherUnit(beside string) bool {
	own := s.unitInName()
	if !s.number() || s.lasts() || own == "" && !s.saysCurrency() {
		return false
	}
	_, kind := unitOf(own)
	words := unitWords(convertedFrom.ReplaceAllString(beside, " "))
	for i, w := range words {
		_, of := unitOf(w)
		money := currencies[w] != nil || minor[w]
		ofAny := kind == "" && !minor[own] || len(words) == 1
		switch {
		case otherwise[w] && i < len(words)-1:
		case s.saysCurrency() && money && !s.ownCurrency(w):
			return true
		case own != "" && !isUnit(own, w) && (of != "" && (ofAny || of == kind) || of == "" && onlyBeside[w] || kind == "" && money):
			return true
		}
	}
	return false
}

var convertedFrom = regexp.MustCompile(`(?i)\bconverted from (?:US )?[\pL€$£¥°%]+`)

// saysUnit reports whether words are the unit, or the currency, that the name of the field says.
func (s shape) saysUnit(words string) bool {
	own := s.unitInName()
	return s.number() && !s.lasts() && slices.ContainsFunc(unitWords(words), func(w string) bool {
		return own != "" && isUnit(own, w) || s.saysCurrency() && s.ownCurrency(w)
	})
}

// unitWords are the words beside a number, with the signs that units have.
func unitWords(beside string) (words []string) {
	for w := range strings.FieldsFuncSeq(unitPhrases.Replace(strings.ToLower(beside)), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("()[]{},;:.!?#*`\"'’–—-=", r)
	}) {
		if _, kind := unitOf(w); kind != "" || onlyBeside[w] {
			words = append(words, w)
			continue
		}
		words = append(words, strings.Split(w, "/")...)
	}
	return words
}

// onlyBeside are the words of all units that are in no list of a kind.
var onlyBeside = func() map[string]bool {
	all := map[string]bool{}
	for _, words := range onlyInNames {
		maps.Copy(all, words)
	}
	return all
}()

// isRate reports whether a field is how much there is of something for each of another, so
// that its unit has two parts.
func (s shape) isRate() bool {
	return slices.Contains(wordsOf(spaced.Replace(s.name)), "per")
}

// currencies are the words and signs of each that the name of a field may say.
var currencies = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, words := range []string{
		"eur euro euros €", "usd dollar dollars bucks $ us$", "gbp pound pounds quid £", "chf fr sfr franken francs", "nok kr kroner", "sek kr kronor", "dkk kr kroner",
		"pln zł", "jpy yen ¥", "cny yuan rmb ¥", "inr rupees ₹", "krw won ₩", "rub rubles ₽", "php pesos ₱", "cad c$ ca$", "aud a$ au$", "nzd nz$", "hkd hk$", "czk kč", "huf", "brl",
		"mxn", "sgd", "thb", "ils", "zar", "aed", "sar", "ron", "bgn", "isk", "idr", "myr", "vnd", "clp", "cop", "ars", "uah", "btc bitcoin", "eth", "cents", "cent", "ct", "pence", "pennies",
	} {
		for _, name := range strings.Fields(words) {
			if all[name] == nil {
				all[name] = map[string]bool{}
			}
			for _, word := range strings.Fields(words) {
				all[name][word] = true
			}
		}
	}
	return all
}()

var currencyName = regexp.MustCompile(currencyNames)

// otherCurrency reports whether an amount is in another currency than the name of the
// field says.
func (s shape) otherCurrency(amount string) bool {
	names := wordsOf(spaced.Replace(s.name))
	return slices.ContainsFunc(currencyName.FindAllString(amount, -1), func(given string) bool {
		given = strings.ToLower(strings.TrimSuffix(given, "."))
		return slices.ContainsFunc(names, func(own string) bool { return currencies[own] != nil && !currencies[own][given] })
	})
}

// ownCurrency reports whether a word is the currency that the name of a field says.
func (s shape) ownCurrency(word string) bool {
	return slices.ContainsFunc(wordsOf(spaced.Replace(s.name)), func(own string) bool { return currencies[own][word] })
}

// saysCurrency reports whether the name of a field says that it is money.
func (s shape) saysCurrency() bool {
	return slices.ContainsFunc(wordsOf(spaced.Replace(s.name)), func(w string) bool { return currencies[w] != nil && onlyInNames[w] == nil })
}
