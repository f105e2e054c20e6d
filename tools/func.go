package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/writ-go/writ/signature/schema"
)

// Func makes a [Tool] from a typed Go function. In must be a struct, whose json and
// jsonschema tags name and describe the arguments:
//
//	type listInvoices struct {
//		Customer string `json:"customer" jsonschema:"description=The customer's number."`
//		Status   string `json:"status,omitempty" jsonschema:"enum=open,enum=paid,default=open"`
//		Limit    int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100"`
//	}
//
// [schema.Of] lists all rules of the tags. Out is any type that encoding/json can marshal. If h
// is nil, the tool has the zero [Hints].
//
// If fn returns an error, the call has failed but may have had its effect. A program must
// therefore name the call to repeat it, unless [Hints].ErrorsAreFinal is set. After a timeout, a
// lost connection or an error marked by [Unknown], the effect is unknown and the call is not
// repeated.
//
// If In or Out has no schema, for example because a tag does not fit its field's type, [NewSet] returns the error.
func Func[In, Out any](name, description string, fn func(context.Context, In) (Out, error), h *Hints) *Tool {
	t := &Tool{Name: name, Description: description}
	if h != nil {
		t.Hints = *h
	}
	input, output, err := funcSchemas[In, Out]()
	if err == nil && fn == nil {
		err = errors.New("the function is nil")
	}
	if err != nil {
		t.err = fmt.Errorf("tools: tool %q: %w", name, err)
		return t
	}
	t.InputSchema, t.OutputSchema, t.Handler = input.Raw(), output.Raw(), typed(fn, output)
	return t
}

func funcSchemas[In, Out any]() (in, out *schema.Schema, err error) {
	inType, outType := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if inType.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("argument type %v is not a struct; use a struct with a field per argument", inType)
	}
	if outType.Kind() == reflect.Interface {
		outType = reflect.TypeFor[any]() // an interface's methods do not determine its JSON
	}
	if in, err = schema.Of(inType); err != nil {
		return nil, nil, fmt.Errorf("argument type %v: %w", inType, err)
	}
	if out, err = schema.Of(outType); err != nil {
		return nil, nil, fmt.Errorf("result type %v: %w", outType, err)
	}
	return in, out, nil
}

// typed returns a Handler that decodes the arguments, calls fn, and encodes the result
// according to its schema: a nil slice becomes an empty array.
func typed[In, Out any](fn func(context.Context, In) (Out, error), output *schema.Schema) Handler {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := schema.Unmarshal(args, &in); err != nil {
			return nil, undecodable(err)
		}
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		result, err := output.Encode(out)
		if err != nil {
			te := &ToolError{
				Kind: KindInvalidResult, Message: "the call was made, but its result cannot be written as JSON",
			}
			return nil, te.WithCause(err)
		}
		return result, nil
	}
}

// undecodable returns the error for arguments that satisfy the schema but not the Go type,
// such as an int8 out of range.
func undecodable(err error) *ToolError {
	te := &ToolError{Kind: KindInvalidArguments, Message: err.Error()}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		te.Message = fmt.Sprintf("%s does not fit %v: %s", wrong.Field, wrong.Type, wrong.Value)
	}
	return te.WithCause(err)
}
