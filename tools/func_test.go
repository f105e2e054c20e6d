package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

type (
	query struct {
		Customer string      `json:"customer" jsonschema:"description=An id."`
		Limit    int64       `json:"limit,omitempty" jsonschema:"minimum=1"`
		Extra    any         `json:"extra,omitempty"`
		Number   json.Number `json:"number,omitempty"`
	}
	page struct {
		Names []string            `json:"names"`
		By    map[string]int      `json:"by"`
		Data  []byte              `json:"data"`
		Next  *string             `json:"next"`
		Deep  []struct{ A []int } `json:"deep"`
	}
	node struct {
		Children []node `json:"children"`
	}
)

// performs calls the only tool of a set.
func perform(ctx context.Context, set *tools.Set, args string) (json.RawMessage, error) {
	return dispatch.New(set, nil).Issue(tools.Call{ID: 1, Args: json.RawMessage(args)}, 0).Perform(ctx)
}

// outcome is a result or a ToolError as one line.
func outcome(result json.RawMessage, err error) string {
	var te *tools.ToolError
	switch {
	case err == nil && result == nil:
		return "undefined"
	case err == nil:
		return string(result)
	case tools.IsFatal(err):
		return "fatal: " + err.Error()
	case !errors.As(err, &te):
		return "other: " + err.Error()
	case te.Data != nil:
		return fmt.Sprintf("%s %s: %s %s", te.Tool, te.Kind, te.Message, te.Data)
	}
	return fmt.Sprintf("%s %s: %s", te.Tool, te.Kind, te.Message)
}

func echo[T any](_ context.Context, in struct {
	V T `json:"v"`
}) (T, error) {
	return in.V, nil
}

func TestFunc(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		tool *tools.Tool
		args string
		want string
	}{
		{"typed", tools.Func("f", "", func(_ context.Context, q query) (string, error) {
			return fmt.Sprint(q.Customer, q.Limit), nil
		}, nil), `{"customer":"c","limit":3}`, `"c3"`},
		{"nil slices and maps are empty", tools.Func("f", "", func(context.Context, struct{}) (page, error) {
			return page{Deep: make([]struct{ A []int }, 1)}, nil
		}, nil), `{}`, `{"names":[],"by":{},"data":"","next":null,"deep":[{"A":[]}]}`},
		{"nil slice", tools.Func("f", "", func(context.Context, struct{}) ([]int, error) { return nil, nil }, nil), `{}`,
			`[]`},
		{"big integer", tools.Func("f", "", echo[int64], nil), `{"v":9007199254740993}`, `9007199254740993`},
		{"big integer in any", tools.Func("f", "", echo[any], nil),
			`{"v":[9007199254740993,123456789012345678901234567890]}`, `[9007199254740993,123456789012345678901234567890]`},
		{"big json.Number", tools.Func("f", "", echo[json.Number], nil), `{"v":123456789012345678901234567890}`,
			`123456789012345678901234567890`},
		{"date", tools.Func("f", "", func(_ context.Context, in struct {
			Day time.Time `json:"day" jsonschema:"format=date,default=2026-04-02"`
		}) (map[string]time.Time, error) {
			return map[string]time.Time{"next": in.Day.AddDate(0, 0, 1)}, nil
		}, nil), `{}`, `{"next":"2026-04-03T00:00:00Z"}`},
		{"too big", tools.Func("f", "", echo[int8], nil), `{"v":300}`, `f invalid_arguments: v must be at most 127, not 300`},
		{"result is not JSON",
			tools.Func("f", "", func(context.Context, struct{}) (float64, error) { return math.NaN(), nil }, nil), `{}`,
			`f invalid_result: the call was made, but its result cannot be written as JSON`},
		{"raw", tools.Func("f", "",
			func(context.Context, struct{}) (json.RawMessage, error) { return json.RawMessage(`{"a":1}`), nil }, nil), `{}`,
			`{"a":1}`},
		{"nil raw", tools.Func("f", "", func(context.Context, struct{}) (json.RawMessage, error) { return nil, nil }, nil),
			`{}`, `null`},
		{"any", tools.Func("f", "", func(context.Context, struct{}) (any, error) { return nil, nil }, nil), `{}`, `null`},
		{"interface", tools.Func("f", "", func(context.Context, struct{}) (fmt.Stringer, error) { return nil, nil }, nil),
			`{}`, `null`},
		{"html", tools.Func("f", "", func(context.Context, struct{}) (string, error) { return "<a&b>", nil }, nil), `{}`,
			`"<a&b>"`},
		{"error", tools.Func("f", "", func(context.Context, struct{}) (string, error) {
			return "x",
				errors.New("sold out")
		}, nil), `{}`, `f failed: sold out`},
		{"missing", tools.Func("f", "", func(context.Context, query) (string, error) { panic("called") }, nil), `{}`,
			`f invalid_arguments: customer is required`},
		{"several errors", tools.Func("f", "", func(context.Context, query) (string, error) { panic("called") }, nil),
			`{"custommer":"c","limit":0}`,
			`f invalid_arguments: customer is required; custommer is not a known property (did you mean customer?); limit ` +
				`must be at least 1, not 0`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := outcome(perform(t.Context(), newSet(t, test.tool), test.args)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestFuncErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		tool *tools.Tool
		want string
	}{
		{"argument", tools.Func("f", "", func(context.Context, []int) (int, error) { return 0, nil }, nil),
			`tools: tool "f": argument type []int is not a struct; use a struct with a field per argument`},
		{"pointer", tools.Func("f", "", func(context.Context, *query) (int, error) { return 0, nil }, nil),
			`tools: tool "f": argument type *tools_test.query is not a struct; use a struct with a field per argument`},
		{"recursive", tools.Func("f", "", func(context.Context, node) (int, error) { return 0, nil }, nil),
			`tools: tool "f": argument type tools_test.node: field "children": type tools_test.node is recursive; use ` +
				`json.RawMessage, or give the type a JSONSchema method`},
		{"result", tools.Func("f", "", func(context.Context, struct{}) (chan int, error) { return nil, nil }, nil),
			`tools: tool "f": result type chan int: type chan int cannot be encoded as JSON`},
		{"tag", tools.Func("f", "", func(context.Context, struct {
			Name string `json:"name" jsonschema:"minimum=3"`
		}) (int, error) {
			return 0, nil
		}, nil),
			`tools: tool "f": argument type struct { Name string "json:\"name\" jsonschema:\"minimum=3\"" }: field ` +
				`"name": jsonschema tag: the rule minimum does not apply to string; ` +
				`use one of minLength, maxLength, pattern, format, enum, default, example, ` +
				`title, description, required, nullable`},
		{"nil function", tools.Func[query, int]("f", "", nil, nil), `tools: tool "f": the function is nil`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tools.NewSet(t.Context(), test.tool); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestFuncDescribesItself(t *testing.T) {
	t.Parallel()
	tool := tools.Func("f", "Finds.", func(context.Context, query) ([]string, error) { return nil, nil },
		&tools.Hints{Class: tools.Read})
	if tool.Name != "f" || tool.Description != "Finds." || tool.Hints.Class != tools.Read {
		t.Errorf("got %+v", tool)
	}
	const input = `{"properties":{"customer":{"type":"string","description":"An ` +
		`id."},"limit":{"type":"integer","minimum":1},"extra":true,"number":{"type":"number"}},` +
		`"additionalProperties":false,"type":"object","required":["customer"]}`
	if string(tool.InputSchema) != input {
		t.Errorf("got  %s\nwant %s", tool.InputSchema, input)
	}
	if string(tool.OutputSchema) != `{"items":{"type":"string"},"type":"array"}` {
		t.Errorf("got %s", tool.OutputSchema)
	}
	free := tools.Func("f", "", func(context.Context, struct{}) (error, error) { return nil, nil }, nil)
	if string(free.OutputSchema) != `true` {
		t.Errorf("got %s", free.OutputSchema)
	}
}
