package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// URLs of the compiled schemas, which the library requires.
const (
	home     = "writ:schema"
	opposite = "writ:opposite" // the negation of the schema
)

// build compiles a decoded schema and its negation. Since the schema may be hostile, build recovers from panics in the
// library.
func (g *guard) build(doc any, formats bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be compiled: %v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(source string) (jsonschema.Regexp, error) { return compilePattern(source, g) })
	if formats {
		c.AssertFormat()
	}
	if err := c.AddResource(home, doc); err != nil {
		return err
	}
	if g.compiled, err = c.Compile(home); err != nil {
		return wording(doc, err)
	}
	if err := c.AddResource(opposite, map[string]any{"not": map[string]any{"$ref": home}}); err != nil {
		return err
	}
	g.opposite, err = c.Compile(opposite)
	return err
}

// noLoader prevents schemas from loading documents from the network or the disk.
type noLoader struct{}

// Load implements [jsonschema.URLLoader].
func (noLoader) Load(string) (any, error) { return nil, errors.New("other documents are not loaded") }

// wording rewords a library error, so that it names the place in the schema and not the URL.
func wording(doc any, err error) error {
	var (
		invalid *jsonschema.SchemaValidationError
		load    *jsonschema.LoadURLError
		regex   *jsonschema.InvalidRegexError
	)
	switch {
	case errors.As(err, &invalid):
		return invalidSchema(doc, invalid)
	case errors.As(err, &load):
		return fmt.Errorf("refers to %q, which is not loaded; copy it into $defs", load.URL)
	case errors.As(err, &regex):
		place := jsonvalue.Path(doc, jsonvalue.Tokens(place(regex.URL)))
		return fmt.Errorf("%s: pattern %s does not compile: %v", place, jsonvalue.Quote(regex.Regex), regex.Err)
	default:
		return errors.New(strings.ReplaceAll(err.Error(), home, ""))
	}
}

func invalidSchema(doc any, err *jsonschema.SchemaValidationError) error {
	var violation *jsonschema.ValidationError
	if !errors.As(err.Err, &violation) {
		return err.Err
	}
	if base := jsonvalue.Tokens(place(err.URL)); len(base) > 0 { // the schema was the target of a $ref
		doc, _ = jsonvalue.Lookup(doc, base)
	}
	x := &explainer{root: doc}
	var lines []string
	for _, f := range x.findings(x.explain(violation)) {
		lines = append(lines, f.String())
	}
	return errors.New(strings.Join(lines, "; "))
}

// place returns the JSON pointer in the location of a schema, or the location itself if
// the schema is outside the compiled document.
func place(location string) string {
	fragment, ok := strings.CutPrefix(location, home+"#")
	if !ok {
		return location
	}
	if p, err := url.PathUnescape(fragment); err == nil {
		return p
	}
	return fragment
}

// index returns all reachable schemas by place. It also replaces their checks of property names and long enums. If
// formats is not set, index removes the formats from the schemas, since the library always checks formats in early
// drafts.
func index(root *jsonschema.Schema, formats bool) map[string]*jsonschema.Schema {
	found := map[string]*jsonschema.Schema{}
	for queue := []*jsonschema.Schema{root}; len(queue) > 0; {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, seen := found[place(s.Location)]; seen {
			continue
		}
		found[place(s.Location)] = s
		queue = append(append(queue, sameValue(s)...), innerValues(s)...)
		if !formats {
			s.Format = nil
		}
		takeEnum(s)
		takeNames(s)
	}
	return found
}

// takeNames replaces propertyNames with an extension. In the library's own errors about
// propertyNames, the validation of later siblings overwrites the place.
func takeNames(s *jsonschema.Schema) {
	if s.PropertyNames != nil {
		s.Extensions = append(s.Extensions, names{s.PropertyNames})
		s.PropertyNames = nil
	}
}

type names struct{ rule *jsonschema.Schema }

// Validate implements [jsonschema.SchemaExt].
func (n names) Validate(ctx *jsonschema.ValidatorContext, v any) {
	object, _ := v.(map[string]any)
	for name := range object {
		if n.rule.Validate(name) != nil {
			ctx.AddError(&kind.PropertyNames{Property: name})
		}
	}
}
