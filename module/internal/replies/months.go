package replies

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A day may be written in other ways than 2025-02-14. It is read if it can be only one:
// with its year in full, and in numbers only if one of them is no month.

// months are their names, a line for each language.
var months = monthNumbers(
	"january february march april may june july august september october november december",
	"jan feb mar apr may jun jul aug sep oct nov dec",
	"januar februar märz april mai juni juli august september oktober november dezember",
	"jänner feber maerz - - - - - sept okt - dez",
	"janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
	"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
	"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
)

func monthNumbers(lines ...string) map[string]int {
	numbers := map[string]int{}
	for _, line := range lines {
		for i, name := range strings.Fields(line) {
			numbers[name] = i + 1
		}
	}
	return numbers
}

// weekdays are what may stand before a day. Whether it is the right one is looked at in
// English only.
var weekdays = regexp.MustCompile(`(?i)^(?:on )?(?:(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)),?\.? +`)

var dayArticle = regexp.MustCompile(`(?i)^(?:the|le|el|den|der|am|il) `)

var (
	dayFirst   = regexp.MustCompile(`(?i)^(\d{1,2})(?:st|nd|rd|th|er|º)?\.? ?(?:of |de )?(\pL+)\.?,? (?:de |del )?(\d{4})$`)
	monthFirst = regexp.MustCompile(`(?i)^(\pL+)\.? (?:the )?(\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$`)
	yearFirst  = regexp.MustCompile(`^(\d{4})([/.-])(\d{1,2})([/.-])(\d{1,2})\.?$`)
	asian      = regexp.MustCompile(`^(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日일]$`)
	inNumbers  = regexp.MustCompile(`^(\d{1,2})([/.-])(\d{1,2})([/.-])(\d{4})$`)
	dayAndTime = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:[Zz]|UTC|GMT|[+-]\d\d:?\d\d))?$`)
)

// calendar reads a day that is written in words, or in another order.
func calendar(text string) json.RawMessage {
	if len(text) > 60 || !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	if m := dayAndTime.FindStringSubmatch(text); m != nil {
		return validDay(m[1][:4], m[1][5:7], m[1][8:])
	}
	text = clockTime.ReplaceAllString(text, "")
	weekday := ""
	if m := weekdays.FindStringSubmatch(text); m != nil {
		weekday, text = strings.ToLower(m[1]), text[len(m[0]):]
	}
	value := inOrder(dayArticle.ReplaceAllString(text, ""))
	if value != nil && weekday != "" && !fallsOn(value, weekday) {
		return nil
	}
	return value
}

// clockTime is the time of a day behind it.
var clockTime = regexp.MustCompile(`(?i)(?:,? (?:at|um|à|alle|a las)|,)? \d{1,2}(?:[:.]\d\d(?::\d\d)?(?: ?(?:[ap]\.?m\.?|uhr|h))?| ?(?:[ap]\.?m\.?|uhr|h\d\d))$`)

// inOrder reads the parts of a day in the order in which they are written.
func inOrder(text string) json.RawMessage {
	if m := dayFirst.FindStringSubmatch(text); m != nil {
		return validDay(m[3], monthNumber(m[2]), m[1])
	}
	if m := monthFirst.FindStringSubmatch(text); m != nil {
		return validDay(m[3], monthNumber(m[1]), m[2])
	}
	if m := yearFirst.FindStringSubmatch(text); m != nil && m[2] == m[4] {
		return validDay(m[1], m[3], m[5])
	}
	if m := asian.FindStringSubmatch(text); m != nil {
		return validDay(m[1], m[2], m[3])
	}
	m := inNumbers.FindStringSubmatch(text)
	if m == nil || m[2] != m[4] {
		return nil
	}
	first, _ := strconv.Atoi(m[1])
	second, _ := strconv.Atoi(m[3])
	switch {
	case first > 12 || first == second:
		return validDay(m[5], m[3], m[1])
	case second > 12:
		return validDay(m[5], m[1], m[3])
	}
	return nil
}

func monthNumber(name string) string { return strconv.Itoa(months[strings.ToLower(name)]) }

// validDay is the day, if the calendar has it.
func validDay(year, month, day string) json.RawMessage {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	text := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return nil
	}
	return Quote(text)
}

// fallsOn reports whether a day is on the day of the week of which a name begins so.
func fallsOn(value json.RawMessage, weekday string) bool {
	day, err := time.Parse(time.DateOnly, PlainText(value))
	return err == nil && strings.HasPrefix(strings.ToLower(day.Weekday().String()), weekday[:3])
}
