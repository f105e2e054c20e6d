package tools_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/writ-go/writ/tools"
)

// calculator has the methods of a tool of langchaingo.
type calculator struct {
	name string
	err  error
}

func (c calculator) Name() string        { return c.name }
func (c calculator) Description() string { return "Computes what is in the input." }
func (c calculator) Call(_ context.Context, input string) (string, error) {
	return input + " = 4", c.err
}

func TestFromLangchain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"calculator": "calculator", "Google Search": "Google_Search", "web-scraper": "web_scraper",
		"7up": "_7up", "": "_", "delete": "delete_", "tools": "tools_", "検索": "検索",
	} {
		set := newSet(t, tools.FromLangchain(calculator{name: name}, nil))
		if got := set.Bindings()[0].Path(); got != want {
			t.Errorf("%q is called %s, not %s", name, got, want)
		}
	}
	tool := tools.FromLangchain(calculator{name: "calculator"}, &tools.Hints{Class: tools.Read})
	if tool.Description != "Computes what is in the input." || tool.Hints.Class != tools.Read ||
		string(tool.OutputSchema) != `{"type":"string"}` {
		t.Errorf("got %+v", tool)
	}
	const input = `{"properties":{"input":{"type":"string"}},"additionalProperties":false,"type":"object",` +
		`"required":["input"]}`
	if string(tool.InputSchema) != input {
		t.Errorf("got  %s\nwant %s", tool.InputSchema, input)
	}
	for _, test := range []struct {
		tool calculator
		args string
		want string
	}{
		{calculator{name: "c"}, `{"input":"2+2"}`, `"2+2 = 4"`},
		{calculator{name: "c"}, `{"expression":"2+2"}`,
			"c invalid_arguments: expression is not a known property (known: input); input is required"},
		{calculator{name: "c", err: errors.New("division by zero")}, `{"input":"1/0"}`, "c failed: division by zero"},
		{calculator{name: "c", err: fmt.Errorf("search: %w", context.DeadlineExceeded)}, `{"input":"x"}`,
			"c timeout: no answer in time; whether it took effect is unknown"},
	} {
		if got := outcome(perform(t.Context(), newSet(t, tools.FromLangchain(test.tool, nil)), test.args)); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
	if _, err := tools.NewSet(t.Context(),
		tools.FromLangchain(nil, nil)); fmt.Sprint(err) != "tools: FromLangchain: the tool is nil" {
		t.Errorf("got %v", err)
	}
}
