package signature_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/writ-go/writ/signature"
)

// Methods of nil and zero values return an error and do not panic.
func TestUnmade(t *testing.T) {
	t.Parallel()
	const want = "signature: nil or zero signature; make one with New, Parse or NewSpec"
	var none *signature.Signature[asked, answered]
	for _, s := range []*signature.Signature[asked, answered]{none, {}} {
		_, err := s.Encode(asked{})
		checkError(t, err, want)
		_, err = s.Decode([]byte(`{}`))
		checkError(t, err, want)
		_, err = s.Turn(asked{}, answered{})
		checkError(t, err, want)
		if s.Spec() != nil || s.String() != "<nil>" || s.WithInstructions("x") != s {
			t.Errorf("got %v", s)
		}
	}
	for _, s := range []*signature.Spec{nil, {}} {
		_, err := s.Encode(nil)
		checkError(t, err, want)
		_, err = s.Decode([]byte(`{}`))
		checkError(t, err, want)
		if got := fmt.Sprint(s.Validate([]byte(`{}`)), s.OutputTypeScript()); got != "[the value cannot be checked: "+
			"nil or zero signature (make one with New, Parse or NewSpec)]{}" {
			t.Errorf("got %s", got)
		}
	}
	if none, zero := (*signature.Spec)(nil).String(), (&signature.Spec{}).String(); none != "<nil>" || zero != "-> " {
		t.Errorf("got %q and %q", none, zero)
	}
}

type asked struct {
	Q float64            `json:"q"`
	M map[string]float64 `json:"m"`
}

type answered struct {
	A float32 `json:"a"`
}

func TestNumbersThatJSONLacks(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[asked, answered](""))
	_, err := s.Encode(asked{Q: math.NaN()})
	checkError(t, err, `signature: input: cannot encode *signature_test.asked: json: unsupported value: NaN`)
	_, err = s.Turn(asked{}, answered{float32(math.Inf(1))})
	checkError(t, err, `signature: output: cannot encode *signature_test.answered: json: unsupported value: +Inf`)
	_, err = signature.Parse("a -> b: float(ge=1e400)", "")
	checkError(t, err, `signature: column 18: 1e400 is out of range for a number`)
	_, err = signature.Parse("a -> b: list[float](examples=[[1e400]])", "")
	checkError(t, err, `signature: column 30: [[1e400]] is out of range for a number`)
}

func TestValuesString(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]fmt.Stringer{
		`{"answer":"four","n":4,"none":null}`: signature.Values{{"answer", []byte(`"four"`)}, {"n", []byte(`4`)},
			{Name: "none"}},
		`{"a":1,"b":oops}`: signature.Values{{"a", []byte(`1`)}, {"b", []byte(`oops`)}},
		`{}`:               signature.Values(nil),
	} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
