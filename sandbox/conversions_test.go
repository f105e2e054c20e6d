package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// TestConversions checks every row of the tables in docs/conversions.md.
func TestConversions(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	tables := readTables(t, "../docs/conversions.md")
	checks := []func(*testing.T, *sandbox.Sandbox, []string){outward, inward, argument}
	if len(tables) != len(checks) {
		t.Fatalf("there are %d tables", len(tables))
	}
	for i, rows := range tables {
		if len(rows) < 15 {
			t.Errorf("table %d has only %d rows", i+1, len(rows))
		}
		for _, row := range rows {
			t.Run(fmt.Sprint(i+1, " ", row[0], " ", row[1]), func(t *testing.T) {
				t.Parallel()
				checks[i](t, box, row)
			})
		}
	}
}

var tableRow = regexp.MustCompile(`(?m)^\| (.+) \| (.+) \| (.+) \|$`)

// readTables returns the rows of the tables of a document, without their headings.
func readTables(t *testing.T, file string) [][][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tables [][][]string
	for _, part := range strings.Split(string(text), "|---|---|---|\n")[1:] {
		body, _, _ := strings.Cut(part, "\n\n")
		var rows [][]string
		for _, cells := range tableRow.FindAllStringSubmatch(body, -1) {
			row := cells[1:]
			for i := range row {
				row[i] = strings.Trim(row[i], "`")
			}
			rows = append(rows, row)
		}
		if lines := strings.Count(strings.TrimSpace(body), "\n") + 1; lines != len(rows) {
			t.Fatalf("%d of %d lines are rows", len(rows), lines)
		}
		tables = append(tables, rows)
	}
	return tables
}

// program runs a program and returns its value.
func program(t *testing.T, box *sandbox.Sandbox, source string, list ...tools.Source) string {
	t.Helper()
	set, err := tools.NewSet(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set, Submit: true})
	if err != nil {
		t.Fatal(err)
	}
	if out.Failure != nil {
		return "error: " + out.Failure.Message
	}
	return string(out.Value)
}

// outward checks a row with the columns: what, in JavaScript, as JSON.
func outward(t *testing.T, box *sandbox.Sandbox, row []string) {
	var got json.RawMessage
	take := raw("take", func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
		got = args
		return nil, nil
	})
	want := row[2]
	message, fails := strings.CutPrefix(want, "error: ")
	argument := `{"v":` + want + `}`
	if fails {
		want, argument = "error: TypeError: submit: "+message, "error: TypeError: the argument of take: "+
			strings.Replace(message, "element [0]", "v[0]", 1)
	}
	if value := program(t, box, "const v = "+row[1]+"; submit(v)"); value != want {
		t.Errorf("submitted\n got: %s\nwant: %s", value, want)
	}
	if value := program(t, box, "const v = "+row[1]+"; await take({v})", take); value != "" {
		got = json.RawMessage(value)
	}
	if string(got) != argument {
		t.Errorf("as an argument\n got: %s\nwant: %s", got, argument)
	}
}

// goValues are the Go values of the second table.
var goValues = map[string]tools.Source{
	`"a<b"`:                            gives("a<b"),
	`1<<53 - 1`:                        gives(1<<53 - 1),
	`int64(1 << 60)`:                   gives(int64(1 << 60)),
	`uint64(math.MaxUint64)`:           gives(uint64(math.MaxUint64)),
	`0.1`:                              gives(0.1),
	`1e300`:                            gives(1e300),
	`json.Number("-0")`:                gives(json.Number("-0")),
	`json.Number("9007199254740993")`:  gives(json.Number("9007199254740993")),
	`true`:                             gives(true),
	`any(nil)`:                         gives(any(nil)),
	`[]string(nil)`:                    gives([]string(nil)),
	`map[string]int(nil)`:              gives(map[string]int(nil)),
	`map[string]int{"b": 1, "a": 2}`:   gives(map[string]int{"b": 1, "a": 2}),
	`json.RawMessage({"b":1,"a":2})`:   gives(json.RawMessage(`{"b":1,"a":2}`)),
	`json.RawMessage({"__proto__":1})`: gives(json.RawMessage(`{"__proto__":1}`)),
	`time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC)`: gives(time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC)),
	`1500 * time.Millisecond`:                       gives(1500 * time.Millisecond),
	`[]byte("hi")`:                                  gives([]byte("hi")),
	`struct{ A *int; B int }{}`: gives(struct {
		A *int
		B int
	}{}),
	`"\xff"`:     gives("\xff"),
	`math.NaN()`: gives(math.NaN()),
}

// gives returns a tool that returns a value.
func gives[T any](v T) tools.Source {
	return tools.Func("give", "Give.", func(context.Context, struct{}) (T, error) { return v, nil }, nil)
}

// inward checks a row with the columns: in Go, as JSON, an expression that is true in the
// program.
func inward(t *testing.T, box *sandbox.Sandbox, row []string) {
	tool := goValues[row[0]]
	if tool == nil {
		t.Fatal("unknown value")
	}
	set, err := tools.NewSet(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	result, err := dispatch.New(set, nil).Issue(tools.Call{ID: 1, Args: []byte(`{}`)}, 0).Perform(t.Context())
	if err != nil {
		result = []byte("error: " + strings.TrimPrefix(err.Error(), "tool give: "))
	}
	if string(result) != row[1] {
		t.Errorf("as JSON\n got: %s\nwant: %s", result, row[1])
	}
	if got := program(t, box, "let v; try { v = await give() } catch (e) { v = e }\n"+row[2], tool); got != "true" {
		t.Errorf("%s is %s", row[2], got)
	}
}

// goFields are the types of the third table.
var goFields = map[string]tools.Source{
	"int64": takes[int64](), "int8": takes[int8](), "float64": takes[float64](), "string": takes[string](),
	"time.Time": takes[time.Time](), "time.Duration": takes[time.Duration](),
	"[]byte": takes[[]byte](), "[]string": takes[[]string](), "[]int": takes[[]int](),
	"map[string]int": takes[map[string]int](), "*int": takes[*int](), "any": takes[any](),
	"json.RawMessage": tools.Func("take", "Take.", func(_ context.Context, in struct {
		V json.RawMessage `json:"v"`
	}) (string, error) {
		return string(in.V), nil
	}, nil),
}

// takes returns a tool that returns its argument as Go prints it.
func takes[T any]() tools.Source {
	type in struct {
		V T `json:"v"`
	}
	return tools.Func("take", "Take.", func(_ context.Context, i in) (string, error) { return fmt.Sprint(i.V), nil }, nil)
}

// argument checks a row with the columns: the field's type, in JavaScript, the field in
// Go.
func argument(t *testing.T, box *sandbox.Sandbox, row []string) {
	tool := goFields[row[0]]
	if tool == nil {
		t.Fatal("unknown type")
	}
	source := "const [v] = [" + row[1] +
		"]; let s; try { s = await take({v}) } catch (e) { s = `error: ${e.message}` }\nsubmit(s)"
	var got string
	if err := json.Unmarshal([]byte(program(t, box, source, tool)), &got); err != nil || got != row[2] {
		t.Errorf("got %q (%v), want %q", got, err, row[2])
	}
}
