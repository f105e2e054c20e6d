package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/writ-go/writ/signature/schema"
)

// Func makes a [Tool] of a typed Go function. In must be a struct: its json and
// jsonschema tags name and describe the arguments. Out is anything that
// encoding/json can write. Nil hints are the zero [Hints].
//
// If a schema cannot be made of In or Out, [NewSet] returns the error, so that
// Func may stand inside the call.
func Func[In, Out any](name, description string, fn func(context.Context, In) (Out, error), h *Hints) *Tool {
	t := &Tool{Name: name, Description: description}
	if h != nil {
		t.Hints = *h
	}
	input, output, err := funcSchemas[In, Out]()
	if err != nil {
		t.err = fmt.Errorf("tools: tool %q: %w", name, err)
		return t
	}
	t.InputSchema = input.Raw()
	if output != nil {
		t.OutputSchema = output.Raw()
	}
	if fn != nil {
		t.Handler = typed(fn, output)
	}
	return t
}

func funcSchemas[In, Out any]() (in, out *schema.Schema, err error) {
	inType, outType := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if inType.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("the argument type %v is not a struct; its fields are the tool's named arguments", inType)
	}
	input, err := schema.Of(inType)
	if err != nil {
		return nil, nil, fmt.Errorf("argument type %v: %w", inType, err)
	}
	if opaque(outType) {
		return input, nil, nil
	}
	output, err := schema.Of(outType)
	if err != nil {
		return nil, nil, fmt.Errorf("result type %v: %w", outType, err)
	}
	return input, output, nil
}

// opaque reports whether a Go type says nothing of the JSON it becomes.
func opaque(t reflect.Type) bool {
	return t.Kind() == reflect.Interface || t == reflect.TypeFor[json.RawMessage]()
}

// typed decodes the arguments, calls fn, and encodes what it returns as its
// schema says: a nil slice is an empty array.
func typed[In, Out any](fn func(context.Context, In) (Out, error), output *schema.Schema) Handler {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		var in In
		d := json.NewDecoder(bytes.NewReader(args))
		d.UseNumber()
		if err := d.Decode(&in); err != nil {
			return nil, &ToolError{Kind: KindInvalidArguments, Message: err.Error(), err: err}
		}
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		result, err := encode(out, output)
		if err != nil {
			return nil, Fatal(fmt.Errorf("tools: the result cannot be written as JSON: %w", err))
		}
		return result, nil
	}
}

func encode(v any, s *schema.Schema) (json.RawMessage, error) {
	if s == nil {
		return json.Marshal(v)
	}
	return s.Encode(v)
}
