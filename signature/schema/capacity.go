package schema

import (
	"cmp"
	"encoding/json"
	"math/big"
	"reflect"

	"github.com/invopop/jsonschema"
)

// capacity is the least and the most that a kind of numbers holds; empty where nothing is
// said.
type capacity struct{ least, most json.Number }

// capacities are those of the kinds of Go that hold less than JSON is written with. What 64
// bits hold is left to [encoding/json]: hardly a number is larger.
var capacities = map[reflect.Kind]capacity{
	reflect.Int8:    {"-128", "127"},
	reflect.Int16:   {"-32768", "32767"},
	reflect.Int32:   {"-2147483648", "2147483647"},
	reflect.Uint:    {least: "0"},
	reflect.Uint8:   {"0", "255"},
	reflect.Uint16:  {"0", "65535"},
	reflect.Uint32:  {"0", "4294967295"},
	reflect.Uint64:  {least: "0"},
	reflect.Uintptr: {least: "0"},
	reflect.Float32: {"-340282346638528859811704183484516925440", "340282346638528859811704183484516925440"},
}

// inRange describes the numbers of a kind.
func inRange(name string, t reflect.Type) *jsonschema.Schema {
	r := capacities[t.Kind()]
	return &jsonschema.Schema{Type: name, Minimum: r.least, Maximum: r.most}
}

// capacityOf is how large the numbers of a type are, or the items of a list.
func capacityOf(s *jsonschema.Schema) capacity {
	of := numbersOf(s)
	return capacity{of.Minimum, of.Maximum}
}

// numbersOf is the schema that the rules of a tag for numbers are about.
func numbersOf(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Items != nil {
		return s.Items
	}
	return s
}

// within gives a type back its range, where a tag has a wider one: what lies between
// could never be decoded. A number in quotes is a text, and has none.
func (r capacity) within(s *jsonschema.Schema) {
	s = numbersOf(s)
	if s.Type == "string" {
		s.Minimum, s.Maximum = "", ""
		return
	}
	if less(s.Minimum, r.least) {
		s.Minimum = r.least
	}
	if less(r.most, s.Maximum) {
		s.Maximum = r.most
	}
}

// less reports whether both are numbers, and a the lesser.
func less(a, b json.Number) bool {
	x, known := new(big.Rat).SetString(a.String())
	y, both := new(big.Rat).SetString(b.String())
	return known && both && cmp.Compare(x.Cmp(y), 0) < 0
}

// unremarkable are bounds that generators of schemas give to every number of a kind. They
// are checked, but not shown: nobody comes near them.
var unremarkable = map[string]bool{
	"-9007199254740991": true, "9007199254740991": true,
	"-2147483648": true, "2147483647": true, "4294967295": true,
	"-340282346638528859811704183484516925440": true, "340282346638528859811704183484516925440": true,
}
