package replies

import (
	"strconv"
	"strings"
)

// Numbers in words of other languages than English, up to 99 and the round ones above.

// wordsAbroad are numbers by their words. Each line has those from its first number on.
var wordsAbroad = func() map[string]string {
	all := map[string]string{}
	for _, line := range []string{
		"0 - eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
		"1 ein zwo", "1 eine",
		"0 zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf", "1 une",
		"0 cero uno dos tres cuatro cinco seis siete ocho nueve diez - doce trece catorce quince dieciséis diecisiete dieciocho diecinueve",
		"21 veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve", "1 una",
		"0 - uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove",
		"0 - um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete dezoito dezenove", "1 uma duas",
		"0 - een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien", "1 één",
		"100 hundert", "100 cent", "100 cien", "100 cento", "100 cem", "100 honderd",
		"1000 tausend", "1000 mille", "1000 mil", "1000 duizend",
	} {
		words := strings.Fields(line)
		first, _ := strconv.Atoi(words[0])
		for i, word := range words[1:] { // where one is a dash, it means something else, too
			all[word] = strconv.Itoa(first + i)
		}
	}
	for language, names := range map[string]string{
		"und": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
		"en":  "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
		" y ": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
		" e ": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
		"":    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
		"-":   "vingt trente quarante cinquante soixante - quatre-vingts -", //nolint:misspell // French
	} {
		for i, ten := range strings.Fields(names) {
			withUnits(all, language, ten, 10*(i+2))
		}
	}
	return all
}()

// onesAbroad are the numbers below ten, by what joins them to a ten. In German and Dutch
// they stand before it.
var onesAbroad = map[string]string{
	"und": "ein zwei drei vier fünf sechs sieben acht neun",
	"en":  "een twee drie vier vijf zes zeven acht negen",
	" y ": "uno dos tres cuatro cinco seis siete ocho nueve",
	" e ": "um dois três quatro cinco seis sete oito nove",
	"":    "uno due tre quattro cinque sei sette otto nove",
	"-":   "- deux trois quatre cinq six sept huit neuf",
}

// withUnits adds a ten and the numbers up to the next.
func withUnits(all map[string]string, join, ten string, n int) {
	all[ten] = strconv.Itoa(n)
	for i, one := range strings.Fields(onesAbroad[join]) {
		word := ten + join + one
		if join == "und" || join == "en" {
			word = one + join + ten
		}
		all[word] = strconv.Itoa(n + i + 1)
	}
}

// inAnyWords is the number that words say in one of the languages, nothing if they say none.
func inAnyWords(text string) string {
	if number := numberInWords(text); number != "" || len(text) > 30 || text == "-" {
		return number
	}
	return wordsAbroad[strings.ToLower(text)]
}
