package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// tool is one whose arguments are free.
func tool(path string, h tools.Hints, handler tools.Handler) *tools.Tool {
	t := &tools.Tool{Name: path, Hints: h, Handler: handler}
	for i := range path {
		if path[i] == '.' {
			t.Namespace, t.Name = path[:i], path[i+1:]
		}
	}
	return t
}

func answer(result string, err error) tools.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), err }
}

// echo answers with its arguments.
func echo(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }

func newSet(t testing.TB, list ...*tools.Tool) *tools.Set {
	t.Helper()
	var sources []tools.Source
	for _, tool := range list {
		sources = append(sources, tool)
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// call calls the tool of a set that has the path, from line 3.
func call(ctx context.Context, set *tools.Set, path, args string) (json.RawMessage, error) {
	for i, b := range set.Bindings() {
		if b.Path() == path {
			c := tools.Call{ID: 1, Args: json.RawMessage(args), Line: 3, Column: 7, Program: "// send\n\nawait it.is(\u202e);\n"}
			return set.Dispatcher(nil).Issue(c, i).Perform(ctx)
		}
	}
	return nil, fmt.Errorf("there is no %s", path)
}

// told is a result or an error as one line.
func told(result json.RawMessage, err error) string {
	var te *tools.ToolError
	switch {
	case err == nil:
		return string(result)
	case tools.IsFatal(err):
		return "fatal: " + err.Error()
	case !errors.As(err, &te):
		return "other: " + err.Error()
	case te.Data != nil:
		return fmt.Sprintf("%s: %s %s", te.Kind, te.Message, te.Data)
	}
	return te.Kind + ": " + te.Message
}

func equal(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, want)
	}
}

func newSecrets(t testing.TB, values ...string) *policy.Secrets {
	t.Helper()
	s, err := policy.NewSecrets(policy.SecretOptions{Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
