package signature

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Typed adds Go types to a spec: structs with the same fields, or [Values]. The order, the
// descriptions and the constraints remain those of the spec. Use Typed after editing a [Spec]:
//
//	spec, err := judge.Spec().WithDescription("score", "0 is a disaster")
//	…
//	judge, err = signature.Typed[Review, Verdict](spec)
//
// The error names a field that only the spec or only the struct has, or an output that may be missing although the
// struct cannot represent a missing value. If a value fits the spec but not its field's Go type, [Signature.Decode]
// returns an error.
func Typed[In, Out any](spec *Spec) (*Signature[In, Out], error) {
	if spec == nil {
		return nil, errors.New("signature: nil spec")
	}
	if err := covers(reflect.TypeFor[In](), spec.inputs, false); err != nil {
		return nil, fmt.Errorf("signature: input %w", err)
	}
	if err := covers(reflect.TypeFor[Out](), spec.outputs, true); err != nil {
		return nil, fmt.Errorf("signature: output %w", err)
	}
	return typed[In, Out](spec)
}

// backed reports whether a field has a default other than null.
func backed(f Field) bool {
	backup, ok := defaultOf(f.Schema.Raw())
	return ok && string(backup) != "null"
}

// covers returns an error unless a type has exactly the given fields.
func covers(t reflect.Type, fields []Field, output bool) error {
	if t == reflect.TypeFor[Values]() {
		return nil
	}
	s, err := structSchema(t)
	if err != nil {
		return err
	}
	own, _, err := decompose(s)
	if err != nil {
		return err
	}
	for _, f := range fields {
		i := slices.IndexFunc(own, func(g Field) bool { return g.Name == f.Name })
		switch {
		case i < 0:
			return fmt.Errorf("field %q: type %v does not have this field; add it, or use signature.Values", f.Name, t)
		case output && own[i].Required && !f.Required && !backed(f):
			return fmt.Errorf("field %q: the value may be missing, which type %v cannot represent; make the "+
				"field a pointer", f.Name, t)
		}
	}
	for _, f := range own {
		if !slices.ContainsFunc(fields, func(g Field) bool { return g.Name == f.Name }) {
			return fmt.Errorf("field %q: type %v has this field, but the spec does not; remove it, or use "+
				"signature.Values", f.Name, t)
		}
	}
	return nil
}
