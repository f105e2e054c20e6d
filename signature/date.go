package signature

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// Date is a day of the calendar, without a time of day or a time zone: a field for due dates and birthdays. Its JSON is
// a string such as "2026-01-31", which is validated: 2026-02-30 is rejected. Dates can be compared with == and be the
// keys of maps. The zero value is no date: its JSON is "", which signatures reject. For an optional date, use *Date, or
// the tag omitzero.
//
// For a point in time, use [time.Time], whose JSON is a string such as "2026-01-31T15:04:05Z".
type Date struct {
	Year  int // 0 to 9999
	Month time.Month
	Day   int
}

// DateOf returns the date of a time, in the time's location.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// In returns midnight at the beginning of the date in a location. Like [time.Date], it normalizes a date that does not
// exist.
func (d Date) In(loc *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, loc)
}

// Compare returns -1 if d is before other, 1 if it is after other, and 0 if both are the same.
func (d Date) Compare(other Date) int {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day))
}

// String returns the date in the form 2026-01-31, and "" for the zero value.
func (d Date) String() string {
	if d == (Date{}) {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// MarshalText returns the same text as String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the form 2026-01-31, and "" as the zero value.
func (d *Date) UnmarshalText(text []byte) error {
	if *d = (Date{}); len(text) == 0 {
		return nil
	}
	t, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("signature: %.40q is not a date such as 2026-01-31", text)
	}
	*d = DateOf(t)
	return nil
}

// JSONSchema returns a date's schema.
func (Date) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "date"}
}

// Time is a time of day, without a date or a time zone: a field for opening hours. Its JSON is a string such as "15:04"
// or "15:04:05". Its schema has a pattern, since the format "time" of JSON Schema requires a time zone. Times can be
// compared with == and be the keys of maps. The zero value is midnight. For a point in time, use [time.Time].
type Time struct{ Hour, Minute, Second int }

// String returns the time in the form 15:04, or 15:04:05 if it has seconds.
func (t Time) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%02d:%02d:%02d", t.Hour, t.Minute, t.Second), ":00")
}

// MarshalText returns the same text as String.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the forms 15:04 and 15:04:05.
func (t *Time) UnmarshalText(text []byte) error {
	layout := time.TimeOnly
	if len(text) < len(layout) {
		layout = "15:04"
	}
	parsed, err := time.Parse(layout, string(text))
	if err != nil || len(text) != len(layout) {
		return fmt.Errorf("signature: %.40q is not a time such as 15:04", text)
	}
	*t = Time{parsed.Hour(), parsed.Minute(), parsed.Second()}
	return nil
}

// JSONSchema returns the schema of a time of day.
func (Time) JSONSchema() *jsonschema.Schema {
	const pattern = "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"
	return &jsonschema.Schema{Type: "string", Pattern: pattern, Description: "a time of day such as 15:04"}
}
