package replies

import (
	"regexp"
	"slices"
	"strings"
)

// An amount of money is a number with its currency before it or behind it: $49.90, CHF
// 18'500.–, fifty dollars, 450 € or best offer.

const (
	currencyNames = `(?:(?:US|C|A|CA|AU|NZ|HK)?\$|[€£¥₹₽₺₩]|(?:EUR|USD|GBP|CHF|NOK|SEK|DKK|PLN|JPY|CAD|AUD|CZK|HUF|INR|CNY|BRL|Fr|SFr|Kč|zł|kr|[Ee]uros?|[Dd]ollars?|[Ff]ranken|[Ff]rancs|[Kk]ron(?:er|or|en)|[Pp]ounds|bucks|quid|yen)\b\.?)`
	moneyNumber   = `[+-]?\d[\d.,'’\x{a0}\x{2009}\x{202f}]*(?: \d{3}\b)*(?:,\d\d\b)?(?:[.,]? ?(?:--|[–—-]))?(?: ?(?:[kKmMbB]|bn|mn|[Mm]io\.?|[Mm]rd\.?|[tT]housand|\pL{0,3}[mM]il[li]\pL*|billion)\b\.?)?`
)

var (
	currencyFirst = regexp.MustCompile(`^([+-]?)` + currencyNames + ` ?(` + moneyNumber + `)(?: ` + currencyNames + `)?(?: ([^\d]+))?$`)
	currencyLast  = regexp.MustCompile(`^([+-]?)(` + moneyNumber + `|[a-zA-Z][a-zA-Z -]{2,60}?) ?` + currencyNames + `(?: ([^\d]+))?$`)
)

// money is the number of an amount of money, if the field can be one.
func (s shape) money(word string) string {
	for i, written := range []*regexp.Regexp{currencyFirst, currencyLast} {
		m := written.FindStringSubmatch(word)
		if m == nil || !s.isMoney() || s.altersAmount(m[3]) {
			continue
		}
		number := strings.TrimRight(m[2], " .,-–—")
		if s.otherCurrency(word) || s.namesSize() {
			return "" // $85,000 may be 85000 of salary_k, or 85
		}
		if strings.HasPrefix(m[2], "-") && m[1] != "" || thousandths.MatchString(number) {
			return ""
		}
		if english := i == 0; english && thousands.MatchString(number) {
			number = strings.ReplaceAll(number, ",", "")
		}
		number = sizeSign.ReplaceAllStringFunc(number, func(sign string) string { return strings.ToUpper(strings.TrimSpace(sign)) })
		return numeral(s.unitless(), m[1]+number)
	}
	return ""
}

// sizeSign finds a letter for the size of an amount.
var sizeSign = regexp.MustCompile(` ?[kKmMbB]$`)

// altersAmount reports whether what is said behind an amount of money may make another of
// it, or say that it is another: per kg, off, deposit.
func (s shape) altersAmount(behind string) bool {
	words := wordsOf(behind)
	return len(words) > 5 || unsure.MatchString(behind) || strings.ContainsAny(behind, "?/%~+") || slices.ContainsFunc(words, func(w string) bool {
		_, kind := unitOf(w)
		return kind != "" || portions[w] || ofMoney[w] && !s.speaksOfField(w) || firstPerson[w] || lessening(w) && w != "in" && w != "one" && w != "and" && w != "total" || isNumeral(w)
	})
}

// portions are words for amounts that are not all of a price, or come to it.
var portions = wordSet(`off down discount reduction rabatt nachlass anzahlung remise descuento sconto pro je par por al extra shipping versand postage tip
	tax vat net gross netto brutto cents pence start starting minimum maximum upwards each apiece stück ab bis`)

// german is an amount with both signs, of which the last is the one before the fraction.
var german = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d{1,2}$`)

// thousandths finds three digits behind a point, which amounts don't have: they may be
// thousands.
var thousandths = regexp.MustCompile(`^[^.]*\.\d{3}$`)

var ofMoney = wordSet(`price prices cost costs amount fee fees budget salary revenue income expense expenses tax rent balance payment invoice
	turnover refund deposit wage wages bonus fine debt loan profit fare bid offer discount tip donation grant prize premium damages sum paid`)

// totals are fields that have money if they are said to.
var totals = wordSet("total subtotal")

// isMoney reports whether a number of money is the field's: by its name, or if that says
// nothing else.
func (s shape) isMoney() bool {
	last := s.lastName()
	open := s.isOpen() && measuredBy[last] == "" && s.unitInName() == ""
	return s.isPlain() || ofMoney[last] || last == "rate" && s.isPay() || s.fraction && (totals[last] || open) || slices.ContainsFunc(wordsOf(spaced.Replace(s.name)), func(w string) bool { return moneyInName[w] })
}

// isPay reports whether a rate may be an amount of money: the name says nothing else.
func (s shape) isPay() bool {
	names := wordsOf(spaced.Replace(s.name))
	return len(names) == 1 || pays[names[len(names)-2]]
}

var pays = wordSet("hourly daily weekly monthly nightly hour day night room pay wage base billing labor labour rental")

// moneyInName are words in the names of fields that say their currency.
var moneyInName = wordSet("eur euro euros usd dollars gbp chf nok sek price cost fee salary")
