package schema

import (
	"testing"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// A value that is recognized as valid is valid.
func FuzzQuick(f *testing.F) {
	s, err := Compile([]byte(`{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":-3,
		"maximum":100},"b":{"type":"array","items":{"type":"string"}},"c":{"type":"boolean"},"d":{"type":"number"}}}`))
	if err != nil || s.quick == nil {
		f.Fatal(s, err)
	}
	for _, seed := range []string{`{"a":1}`, `{"a":-3,"b":["x\"",""],"c":true,"d":-0}`, `{"a":101}`, `{"b":[]}`, `{"a":1,"a":2}`,
		`{"a":1.0}`, `{"\u0061":1}`, `{"a":1,"c":false,"b":[1]}`, `{"a":1,"x":{}}`, `[]`, `{`, `{"a":1e400}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		c, valid := jsonvalue.NewCursor(value)
		if valid && s.quick.fits(&c) {
			if findings := s.validate(value, nil); findings != nil {
				t.Error(findings)
			}
		}
	})
}
