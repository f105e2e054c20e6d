package replies

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A number may have its unit beside it, or the word for what was counted. It is the
// same number if the unit is one that the field can have. A word that multiplies it,
// or says how exact it is, is no unit.

// measured is the number of an amount: 500 g, 1,500 employees, ext. 12, $49.90.
func (s shape) measured(word string) string {
	if len(word) > 60 {
		return ""
	}
	word = strings.TrimPrefix(word, "the ")
	if m := inYear.FindStringSubmatch(word); m != nil && s.isYear() && (m[1] == "" || sameName(s.name, m[1])) {
		return m[2]
	}
	if m := timesSign.FindStringSubmatch(word); m != nil && quantities[s.lastName()] {
		return m[1] + m[2]
	}
	if m := calledNumber.FindStringSubmatch(word); m != nil && s.isCalled(strings.ToLower(m[1])) {
		return numeral(s, m[2])
	}
	if number := s.money(word); number != "" {
		return number
	}
	number, unit := cutUnit(word)
	if unit == "" || !s.ownUnit(number, unit) || s.namesSize() && strings.ContainsFunc(number, unicode.IsLetter) {
		return ""
	}
	switch {
	case imperial[unit] && thousands.MatchString(number):
		number = strings.ReplaceAll(number, ",", "")
	case !imperial[unit] && maybeThousands.MatchString(number):
		return ""
	}
	return numeral(s.unitless(), number)
}

// unitless is a shape of the same numbers, in which no unit is expected.
func (s shape) unitless() shape {
	return shape{integer: s.integer, fraction: s.fraction}
}

// inYear finds a year behind the word that says that it is one.
var inYear = regexp.MustCompile(`(?i)^(?:(\pL+) )?(?:in|en|im jahre?|anno) (\d{4})$`)

// isYear reports whether a field is the year in which something was.
func (s shape) isYear() bool { return s.integer && yearly[s.lastName()] }

// timesSign finds how many times there is something: 2x.
var timesSign = regexp.MustCompile(`^(\d{1,6}) ?[x×]$|^[x×] ?(\d{1,6})$`)

var quantities = wordSet("quantity qty count amount")

// calledNumber finds a number behind a word for what it is the number of.
var calledNumber = regexp.MustCompile(`^(\pL+)(?:\.|:)? ?(\d+)$`)

// callings are words before a number in other words than the name of its field.
var callings = map[string]map[string]bool{
	"extension": wordSet("x poste durchwahl dw interno anexo ramal"),
	"year":      wordSet("ad in anno"),
	"page":      wordSet("p pp pg seite"),
}

// isCalled reports whether a word before a number is the name of the field, or short
// for it: ext. for extension.
func (s shape) isCalled(word string) bool {
	own := wordsOf(spaced.Replace(s.name))
	if len(own) == 0 || s.isPlain() {
		return false
	}
	last := own[len(own)-1]
	return callings[last][word] || word == last && !strings.HasSuffix(word, "s") || len(word) > 1 && len(last) > 4 && strings.HasPrefix(last, word)
}

func (s shape) lastName() string { return nounOf(s.name) }

var unitBehind = regexp.MustCompile(`^([+-]?\d[\d.,'’\x{a0}\x{202f}]*(?: \d{3}\b)*(?:,\d{1,2}\b)?(?: (?:million|billion|thousand|Millionen|Mio\.?|Mrd\.?|millions?|millones|milioni|milhões)\b)?)([ -]?)([^\d\s][^\d]*[23]?)$`)

// cutUnit splits a number from the words behind it. It may be in words itself. Only
// units and the counting words of Asia are joined to it.
func cutUnit(word string) (number, unit string) {
	if m := unitBehind.FindStringSubmatch(word); m != nil {
		unit = unitPhrases.Replace(strings.ToLower(m[2] + m[3]))
		unit = strings.TrimSuffix(strings.TrimLeft(unit, " -"), " old")
		if _, kind := unitOf(unit); unit == "" || m[2] != " " && kind == "" && unit[0] < utf8.RuneSelf {
			return "", ""
		}
		return strings.TrimRight(m[1], ".,"), withoutWhole(unit)
	}
	words := strings.Fields(word)
	for n := min(len(words)-1, 5); n > 0; n-- {
		if number := inAnyWords(strings.Join(words[:n], " ")); number != "" {
			return number, strings.ToLower(strings.Join(words[n:], " "))
		}
	}
	return "", ""
}

// ownUnit reports whether what is behind a number is the unit that the name of a field
// says, one of what it measures, what it counts, or no more than that it is all.
func (s shape) ownUnit(number, unit string) bool {
	last := s.lastName()
	_, kind := unitOf(unit)
	own := s.unitInName()
	switch {
	case wholly[unit]:
		return true
	case s.isYear():
		return eras[unit] && !strings.HasPrefix(number, "-")
	case s.isRate():
		return false
	case own != "":
		return isUnit(own, unit)
	case last == "age":
		return slices.Contains(unitSynonyms("years"), unit)
	case kind != "" && kind != "percent" && unit != "m" && s.measures(kind), unit == "m" && measuredBy[last] == kind:
		return true
	case servings[unit] && last == "serves":
		return true
	}
	return s.counts(unit)
}

// yearly are fields that have years.
var yearly = wordSet("year born died founded built established published opened released birthyear since vintage")

// measures reports whether a field can have a unit of a kind. What says by its name
// that it is of another kind, or a count, cannot; nor a share of something.
func (s shape) measures(kind string) bool {
	last := s.lastName()
	if s.saysCurrency() || s.namesSize() {
		return false
	}
	if of, known := measuredBy[last]; known {
		return of == kind || last == "dose" && kind == "volume"
	}
	return s.isPlain() || s.isOpen()
}

// isOpen reports whether the name of a field doesn't say what unit it could have.
func (s shape) isOpen() bool {
	last := s.lastName()
	shared := s.least != nil && s.most != nil
	return !shared && !counts[last] && !totals[last] && !ofMoney[last] && !bareNumbers[last] && !strings.HasSuffix(last, "s")
}

// crowds are fields that count something by a name that doesn't say what.
var crowds = wordSet("population attendance headcount stock inventory circulation capacity size amount crew staff audience turnout")

// bareNumbers are fields of numbers that have no unit.
var bareNumbers = wordSet("extension id identifier code zip postcode phone age rank position index version rating grade stars score level priority rate ratio probability likelihood odds fraction proportion share factor coefficient completion progress confidence certainty accuracy precision recall year month day quantity qty people children")

// wholly is said behind a number that leaves nothing out.
var wholly = wordSetOf("total", "in total", "in all", "altogether", "overall", "insgesamt", "au total", "en total")

// withoutWhole is a unit without what is said behind it that leaves nothing out.
func withoutWhole(unit string) string {
	if at := wholeEnd.FindStringIndex(unit); at != nil && at[0] > 0 {
		return unit[:at[0]]
	}
	return unit
}

var wholeEnd = regexp.MustCompile(`(?:^| )(?:in total|total|in all|altogether|overall|insgesamt|au total|en total)$`)

var eras = wordSetOf("ad", "ce", "年", "n. chr", "n. chr.", "a.d.", "c.e.", "a.d", "c.e")

var servings = wordSet("people persons portions servings guests personen personnes personas")

// counts reports whether words behind a number are what a field counts: by its name, or
// anything, if that doesn't say.
func (s shape) counts(unit string) bool {
	unit, _, _ = strings.Cut(unit, " of ")
	words := wordsOf(unit)
	if len(words) == 0 || len(words) > 4 || strings.ContainsAny(unit, "/,;:!?()\"+=<>~%") || slices.ContainsFunc(words, lessening) {
		return false
	}
	noun, last := words[len(words)-1], s.lastName()
	if s.isPlain() || counts[last] && !totals[last] {
		return counted(noun)
	}
	if last == "quantity" || last == "qty" {
		return pieces[noun] || counted(noun)
	}
	if rated[last] && len(words) == 1 && rated[noun] {
		return true
	}
	if persons[last] && (irregular[noun] || servings[noun]) && len(words) == 1 {
		return servings[noun] || noun == "staff"
	}
	if crowds[last] && s.integer {
		return counted(noun)
	}
	return len(last) > 3 && strings.HasSuffix(last, "s") && strings.TrimSuffix(noun, "s") == strings.TrimSuffix(last, "s") ||
		irregular[last] && noun == last
}

// pieces are what quantities are of.
var pieces = wordSet("piece pieces pc pcs unit units item copy stück pièce")

// rated are what ratings are given in, and their names.
var rated = wordSet("rating score grade stars star points point sterne stern étoiles étoile estrellas stelle estrelas sterren punkte")

// lessening reports whether a word among those behind a number may make another number
// of it, or of what was counted.
func lessening(word string) bool {
	_, kind := unitOf(word)
	return hedges[word] || corrections[word] || contrasts[word] || reservations[word] || qualifiers[word] || reported[word] ||
		waverings[word] || inexactly[word] || multiples[word] || particles[word] || numerals[word] != "" || kind != "" && word != "in" ||
		contracted(word) || strings.HasSuffix(word, "ly")
}

// particles join what is behind a number to something else, or compare it.
var particles = wordSet(`out of in on at of to and or for from with by a an the as per than that which who vs x times other others additional further
	remaining left expected planned potential possible suspected alleged so such same old ago new late early short long high deep wide`)

// counted reports whether a word behind a number is a plural, and so may be what was
// counted: 42 eggs. What multiplies the number, or says how exact it is, is none.
func counted(word string) bool {
	_, kind := unitOf(word)
	return kind == "" && currencies[word] == nil && onlyInNames[word] == nil && (irregular[word] || len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "ous"))
}

// irregular are plurals without an s.
var irregular = wordSet(`people children men women sheep fish deer mice geese teeth feet oxen cattle staff police crew aircraft
	personen leute kinder menschen wörter stück tiere`)

var multiples = wordSet(`tens dozens scores trillions lakhs crores pairs couples times halves thirds quarters fifths sixths sevenths eighths ninths tenths
	hundredths thousandths percents points digits plus minus perhaps always sometimes unless besides towards afterwards this thus whereas versus
	degrees bits bars units squares cubes packs packets sets lots boxes crates batches bundles bunches cartons cases bags stacks groups rows others does was has is ones tens series cents pence steps options ways possibilities
	decades centuries millennia fortnights score gross trillion lakh crore pair couple dutzend paar douzaine docena millionen milliarden tausend milliers`)

// plainNames are names of fields that say nothing of what is asked for.
var plainNames = []string{"answer", "result", "value"}

func (s shape) isPlain() bool { return slices.Contains(plainNames, strings.ToLower(s.name)) }
