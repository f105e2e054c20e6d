package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/writ-go/writ/signature/schema"
)

type period struct {
	Start time.Time   `json:"start" jsonschema:"format=date"`
	End   *time.Time  `json:"end,omitempty" jsonschema:"format=date,default=2026-12-31"`
	Days  []time.Time `json:"days,omitempty" jsonschema:"format=date"`
	At    time.Time   `json:"at"`
	Text  string      `json:"text" jsonschema:"format=date"`
}

// A time.Time with the tag format=date is a date in JSON, whatever its time of day and zone, and is read as midnight
// UTC. Other values are as encoding/json writes them.
func TestDates(t *testing.T) {
	t.Parallel()
	s, err := schema.Of(reflect.TypeFor[map[string][]*period]())
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 4, 2, 12, 30, 0, 0, time.FixedZone("", -9*3600))
	midnight := time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC)
	in := map[string][]*period{"a": {{Start: noon, End: &noon, Days: []time.Time{noon}, At: noon, Text: "2026-01-31"}}}
	const want = `{"a":[{"start":"2026-04-02","end":"2026-04-02","days":["2026-04-02"],` +
		`"at":"2026-04-02T12:30:00-09:00","text":"2026-01-31"}]}`
	raw, err := s.Encode(in)
	if err != nil || string(raw) != want {
		t.Errorf("got  %s, %v\nwant %s", raw, err, want)
	}
	checkLines(t, s.Validate(raw), nil)
	if raw, err = schema.Marshal(in); err != nil || string(raw) != want {
		t.Errorf("got  %s, %v\nwant %s", raw, err, want)
	}
	var out map[string][]*period
	if err := schema.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	got := out["a"][0]
	if !got.At.Equal(noon) {
		t.Errorf("at is %v", got.At)
	}
	got.At = time.Time{}
	if !reflect.DeepEqual(got, &period{Start: midnight, End: &midnight, Days: []time.Time{midnight}, Text: "2026-01-31"}) {
		t.Errorf("got %+v", got)
	}
	raw, err = s.Encode(map[string][]*period{"a": {{Text: "2026-04-02T00:00:00Z"}}})
	if findings := s.Validate(raw); err != nil || findings == nil {
		t.Errorf("a string that is no date was accepted: %s, %v", raw, err)
	}
}

// dated writes itself as an object that its fields do not describe.
type dated struct {
	Day time.Time `json:"day"`
}

func (d dated) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"day": d.Day.Format("2 T")})
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 4, 2, 12, 30, 0, 0, time.UTC)
	for _, test := range []struct {
		v    any
		want string
	}{
		{nil, `null`},
		{struct{ A []int }{}, `{"A":[]}`},
		{&struct{ A *[]int }{}, `{"A":null}`},
		{"<a>", `"<a>"`},
		{noon, `"2026-04-02T12:30:00Z"`},
		{dated{noon}, `{"day":"2 T"}`},
		{map[string]error{"recursive, or an interface": nil}, `{"recursive, or an interface":null}`},
	} {
		if got, err := schema.Marshal(test.v); err != nil || string(got) != test.want {
			t.Errorf("%T: got %s, %v, want %s", test.v, got, err, test.want)
		}
	}
	if _, err := schema.Marshal(func() {}); err == nil || err.Error() != "json: unsupported type: func()" {
		t.Errorf("got %v", err)
	}
}
