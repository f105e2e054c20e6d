package signature_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/signature"
)

type appointment struct {
	Due     signature.Date            `json:"due"`
	At      signature.Time            `json:"at"`
	Until   *signature.Date           `json:"until"`
	Closed  signature.Date            `json:"closed,omitzero"`
	Days    []signature.Date          `json:"days" jsonschema:"description=the days off"`
	Holiday map[signature.Date]string `json:"holiday"`
	Started time.Time                 `json:"started,omitzero"`
}

var appointed = signature.Must(signature.New[appointment, appointmentOut]("Schedule."))

type appointmentOut struct {
	Out appointment `json:"out"`
}

func TestDate(t *testing.T) {
	t.Parallel()
	const object = "{due: string /* date */; at: string /* /^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$/. " +
		"a time of day such as 15:04 */; until?: string | null /* date */; closed?: string /* date */; " +
		"days: string[] /* each date. the days off */; holiday: Record<string, string>; started?: string /* date-time */}"
	if got := appointed.Spec().OutputTypeScript(); got != "{out: "+object+"}" {
		t.Errorf("got %s\nwant %s", got, object)
	}
	feb := signature.Date{Year: 2024, Month: time.February, Day: 29}
	in := appointment{Due: feb, At: signature.Time{Hour: 9, Minute: 30}, Until: &feb, Days: []signature.Date{{Year: 2024, Month: 3, Day: 1}},
		Holiday: map[signature.Date]string{feb: "leap day"}}
	values, err := appointed.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(values)
	const want = `{"due":"2024-02-29","at":"09:30","until":"2024-02-29","days":["2024-03-01"],` +
		`"holiday":{"2024-02-29":"leap day"}}`
	if err != nil || string(raw) != want {
		t.Errorf("got %s, %v", raw, err)
	}
	out, err := appointed.Decode([]byte(`{"out":` + want + `}`))
	if err != nil || fmt.Sprint(out.Out) == "" || out.Out.Due != feb || out.Out.At != in.At || *out.Out.Until != feb ||
		out.Out.Holiday[feb] != "leap day" || out.Out.Closed != (signature.Date{}) {
		t.Errorf("got %+v, %v", out, err)
	}
	if _, err := appointed.Encode(appointment{}); err == nil || !strings.Contains(err.Error(),
		`due must be a date such as 2026-01-31, not ""`) {
		t.Errorf("the zero date: %v", err)
	}
	if _, err := appointed.Encode(appointment{Due: signature.Date{Year: 2026, Month: 2, Day: 30}}); err == nil ||
		!strings.Contains(err.Error(), `due must be a date such as 2026-01-31, not "2026-02-30"`) {
		t.Errorf("a date that does not exist: %v", err)
	}
}

func TestDateThatDoesNotExist(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[struct{}, struct {
		Due signature.Date `json:"due"`
		At  signature.Time `json:"at"`
	}]("Schedule."))
	for given, want := range map[string]string{
		`{"due":"2026-02-30","at":"10:00"}`:           `due must be a date such as 2026-01-31, not "2026-02-30"`,
		`{"due":"31.1.2026","at":"10:00"}`:            `due must be a date such as 2026-01-31, not "31.1.2026"`,
		`{"due":"2026-01-31T00:00:00Z","at":"10:00"}`: `due must be a date such as 2026-01-31, not "2026-01-31T00:00:00Z"`,
		`{"due":"2026-01-31","at":"24:00"}`:           `not "24:00"`,
		`{"due":"2026-01-31","at":"9:00"}`:            `not "9:00"`,
		`{"due":"2026-01-31","at":"10:00:60"}`:        `not "10:00:60"`,
		`{"due":"2026-01-31","at":"10:00:59"}`:        "",
	} {
		_, err := sig.Decode([]byte(given))
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v", given, err)
		}
	}
}

// The notation of Parse has dates, which decode into a Date.
func TestParsedDate(t *testing.T) {
	t.Parallel()
	parsed := signature.Must(signature.Parse("text -> due: date", ""))
	values, err := parsed.Decode([]byte(`{"due":"2026-01-31"}`))
	if err != nil {
		t.Fatal(err)
	}
	due, err := signature.Get[signature.Date](values, "due")
	if want := (signature.Date{Year: 2026, Month: time.January, Day: 31}); err != nil || due != want {
		t.Errorf("got %v, %v", due, err)
	}
	type text struct {
		Text string `json:"text"`
	}
	type dated struct {
		Due signature.Date `json:"due"`
	}
	typed, err := signature.Typed[text, dated](parsed.Spec())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := typed.Decode([]byte(`{"due":"2026-01-31"}`)); err != nil || out.Due != due {
		t.Errorf("got %v, %v", out, err)
	}
	own := signature.Must(signature.New[text, dated](""))
	if got := own.Spec().String(); got != "text: str -> due: date" {
		t.Errorf("got %s", got)
	}
}

func TestDateOf(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("", 3600)
	d := signature.DateOf(time.Date(2026, 1, 31, 23, 59, 58, 7, berlin))
	if got := d.In(berlin); d.String() != "2026-01-31" || !got.Equal(time.Date(2026, 1, 31, 0, 0, 0, 0, berlin)) {
		t.Errorf("got %v, %v", d, got)
	}
	for _, n := range []int{-400, -1, 1, 31, 365} {
		if next := signature.DateOf(d.In(time.UTC).AddDate(0, 0, n)); next.Compare(d)*n <= 0 || d.Compare(next)*n >= 0 {
			t.Errorf("%d days: got %v", n, next)
		}
	}
	if raw, err := json.Marshal(signature.Date{}); string(raw) != `""` || err != nil || json.Unmarshal(raw, &d) != nil ||
		d != (signature.Date{}) || d.Compare(d) != 0 {
		t.Errorf("the zero value: got %s, %v, %v", raw, err, d)
	}
}

func FuzzDate(f *testing.F) {
	f.Add("2026-01-31", "15:04")
	f.Add("", "15:04:")
	f.Add("", "15:04:0")
	f.Fuzz(func(t *testing.T, date, clock string) {
		var d signature.Date
		if d.UnmarshalText([]byte(date)) == nil && d.String() != date {
			t.Errorf("%q was read as %v", date, d)
		}
		var c signature.Time
		if c.UnmarshalText([]byte(clock)) == nil && strings.TrimSuffix(clock, ":00") != strings.TrimSuffix(c.String(), ":00") {
			t.Errorf("%q was read as %v", clock, c)
		}
	})
}
