package mcptools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// Schemas keep their order and their integers; a missing description is replaced by a title.
func TestListing(t *testing.T) {
	t.Parallel()
	s := serve(t, script{"tools/list": result(`{"tools":[
		{"name":"a","description":"Does.",
			"inputSchema":{"type":"object","properties":{"z":{"maximum":9007199254740993},"a":true}},
			"outputSchema":{"type":"object"}},
		{"name":"b","title":"Title","inputSchema":null},
		{"name":"c/d e","annotations":{"title":"Noted","readOnlyHint":true},"x":1}
	]}`)}, nil)
	var lines []string
	all := inOrder(t, s)
	for _, tool := range all {
		lines = append(lines, fmt.Sprintf("%s.%s: %s in:%s out:%s %+v", tool.Namespace, tool.Name, tool.Description,
			tool.InputSchema, tool.OutputSchema, tool.Hints))
	}
	none := "{Class:unclassified Destructive:false Repeatable:false ErrorsAreFinal:false Identity:[]}"
	equalLines(t, "tools", lines,
		`s.a: Does. in:{"type":"object","properties":{"z":{"maximum":9007199254740993},"a":true}} out:{"type":"object"} `+
			none,
		`s.b: Title in: out: `+none,
		`s.c/d e: Noted in: out: `+none)
}

// Secrets are removed from everything that a server says about a tool, before it is cut, and
// the tool can still be called.
func TestListingIsRedacted(t *testing.T) {
	t.Parallel()
	const token = "tok-4711-secret"
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{token}, ValuesOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, script{
		"tools/list": result(`{"tools":[
			{"name":"a","description":"Send tok-4711-secret along.","inputSchema":{"type":"object","properties":{
				"key":{"type":"string","description":"tok\u002d4711-secret","default":"tok-4711-secret",
					"enum":["tok-4711-secret","x"]}}},
				"outputSchema":{"type":"object","properties":{"tok-4711-secret":{}}}},
			{"name":"tok-4711-secret","title":"tok-4711-secret"},
			{"name":"cut","description":"0123456789. 0123456789 tok-4711-secret."},
			{"name":"b tok-4711-secret","description":7}
		]}`),
		"tools/call": func(params json.RawMessage) string {
			return fmt.Sprintf(`"result":{"content":[{"type":"text","text":%q}]}`, params)
		},
	}, &Options{Secrets: secrets, maxDescription: 30})
	all := inOrder(t, s)
	var lines []string
	for _, tool := range all {
		lines = append(lines, fmt.Sprintf("%s: %s in:%s out:%s", tool.Name, tool.Description, tool.InputSchema,
			tool.OutputSchema))
	}
	text := strings.Join(append(lines, s.Warnings()...), "\n")
	if strings.Contains(text, "4711") {
		t.Error(text)
	}
	equal(t, "tool", strings.Join(strings.Fields(lines[0]), " "),
		`a: Send [redacted] along. in:{"type":"object","properties":{ `+
			`"key":{"type":"string","description":"[redacted]","default":"[redacted]", "enum":["[redacted]","x"]}}} `+
			`out:{"type":"object","properties":{"[redacted]":{}}}`)
	equal(t, "name and title", lines[1], "[redacted]: [redacted] in: out:")
	if got := call(t.Context(), all[1], `{}`); !strings.Contains(got, token) {
		t.Errorf("the server was asked for another tool: %s", got)
	}
}

func TestListingIsBounded(t *testing.T) {
	t.Parallel()
	page := 0
	endless := func(cursor string) script {
		return script{"tools/list": func(json.RawMessage) string {
			page++
			return fmt.Sprintf(`"result":{"tools":[{"name":"t%d"}],"nextCursor":"`+cursor+`"}`, page, page%3)
		}}
	}
	many := `{"tools":[` + strings.TrimSuffix(strings.Repeat(`{"name":"%d"},`, 30), ",") + `]}`
	numbers := make([]any, 30)
	for i := range numbers {
		numbers[i] = i
	}
	for _, c := range []struct {
		name    string
		s       script
		o       *Options
		tools   int
		warning string
	}{
		{"a cursor repeats", endless("c%d"), nil, 4,
			`mcp server "s": page 4 of its tools points back to an earlier page; the listing ends there`},
		{"too many pages", script{"tools/list": func(params json.RawMessage) string {
			page++
			return fmt.Sprintf(`"result":{"tools":[{"name":"t%d"}],"nextCursor":"%d"}`, page, page)
		}}, &Options{maxPages: 5}, 5,
			`mcp server "s": it has more than 5 pages of tools; the rest is left out`},
		{"too many tools", script{"tools/list": result(fmt.Sprintf(many, numbers...))}, &Options{maxTools: 20}, 20,
			`mcp server "s": it has more than 20 tools; the rest is left out`},
		{"exactly the maximum number of tools", script{"tools/list": result(fmt.Sprintf(many, numbers...))},
			&Options{maxTools: 30}, 30,
			``},
		{"the same name twice", script{"tools/list": result(`{"tools":[{"name":"a"},{"name":"a"}]}`)}, nil, 1,
			`mcp server "s": tool "a" is listed twice; the first one is used`},
		{
			"malformed tools",
			script{"tools/list": result(`{"tools":[{"name":"a","description":7},{"title":"x"},null,"x",{"name":"b"}]}`)},
			nil, 1,
			`mcp server "s": tool "a" is left out because its definition is malformed: description: json: cannot ` +
				`unmarshal number into Go value of type string` + "\n" +
				`mcp server "s": a tool without a valid name is left out`,
		},
		{"no tools",
			script{"tools/list": func(json.RawMessage) string { return `"error":{"code":-32601,"message":"no"}` }}, nil, 0, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.s, c.o)
			equal(t, "tools", fmt.Sprint(len(list(t, s))), fmt.Sprint(c.tools))
			equalLines(t, "warnings", s.Warnings(), strings.Split(c.warning, "\n")...)
			equal(t, "error", fmt.Sprint(s.Status()[0].Err), "<nil>")
		})
	}
}

func TestOnlyOfferedToolsAreTaken(t *testing.T) {
	t.Parallel()
	s := serve(t,
		script{"tools/list": result(`{"tools":[{"name":"read_file"},{"name":"read_all"},{"name":"write_file"}]}`)}, nil)
	config := &s.servers[0].config
	for _, c := range []struct {
		allow, deny []string
		want        string
	}{
		{nil, nil, "[read_all read_file write_file]"},
		{[]string{"read_*"}, nil, "[read_all read_file]"},
		{nil, []string{"*_file"}, "[read_all]"},
		{[]string{"read_*", "write_file"}, []string{"read_all"}, "[read_file write_file]"},
	} {
		config.Allow, config.Deny = c.allow, c.deny
		equal(t, fmt.Sprint(c.allow, c.deny), fmt.Sprint(slices.Sorted(maps.Keys(list(t, s)))), c.want)
	}
}

// Tools that programs cannot or should not call are not declared.
func TestToolsForOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	s := serve(t, script{"tools/list": result(`{"tools":[
		{"name":"required","execution":{"taskSupport":"required"}},
		{"name":"optional","execution":{"taskSupport":"optional"}},
		{"name":"odd execution","execution":"required","_meta":7},
		{"name":"app","_meta":{"ui":{"visibility":["app"]}}},
		{"name":"both","_meta":{"ui":{"visibility":["model","app"]}}},
		{"name":"model","_meta":{"ui":{"visibility":["model"]}}},
		{"name":"default","_meta":{"ui":{"resourceUri":"ui://x","visibility":[]}}},
		{"name":"odd visibility","execution":{"taskSupport":7},"_meta":{"ui":{"visibility":"app"}}},
		{"name":"odd ui","_meta":{"ui":["app"]}}
	]}`)}, nil)
	equalLines(t, "tools", slices.Sorted(maps.Keys(list(t, s))),
		"both", "default", "model", "odd execution", "odd ui", "odd visibility", "optional")
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "s": tool "required" is left out because it must be called as a task, which is not supported`)
	equal(t, "pins", fmt.Sprint(len(s.Pins()["s"])), "7")
}

func TestListingFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		list func(json.RawMessage) string
		want string
	}{
		{
			"an error", func(json.RawMessage) string { return `"error":{"code":-32603,"message":"database is down"}` },
			`mcp server "s": listing tools: calling "tools/list": database is down`,
		},
		{
			"an error that controls the terminal",
			func(json.RawMessage) string { return `"error":{"code":-32603,"message":"\u001b[2J\u202e"}` },
			`mcp server "s": listing tools: calling "tools/list": \u001b[2J\u202e`,
		},
		{
			"silence", func(json.RawMessage) string { return "" },
			`mcp server "s": listing tools timed out after 200ms; raise the timeout: context deadline exceeded`,
		},
		{
			"nonsense", result(`{"tools":"none"}`),
			`mcp server "s": listing tools: malformed response: tools: must be an array, not string`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, script{"tools/list": c.list}, &Options{ConnectTimeout: 200 * time.Millisecond})
				equal(t, "tools", fmt.Sprint(len(list(t, s))), "0")
				equal(t, "error", fmt.Sprint(s.Status()[0].Err), c.want)
			})
		})
	}
}

// BenchmarkList10000 lists ten thousand tools in one page.
func BenchmarkList10000(b *testing.B) {
	var page strings.Builder
	page.WriteString(`"result":{"tools":[`)
	for i := range 10_000 {
		if i > 0 {
			page.WriteByte(',')
		}
		fmt.Fprintf(&page,
			`{"name":"tool%d","description":"Does something to an item.","inputSchema":{"type":"object",`+
				`"properties":{"id":{"type":"string","description":"The item."},"limit":{"type":"integer"}},"required":["id"]}}`, i)
	}
	page.WriteString(`]}`)
	s := serve(b, script{"tools/list": func(json.RawMessage) string { return page.String() }}, nil)
	for b.Loop() {
		all, err := s.Tools(b.Context())
		if err != nil || len(all) != 10_000 {
			b.Fatal(len(all), err)
		}
	}
}

// A server's hints are used only if the host trusts the server.
func TestTrust(t *testing.T) {
	t.Parallel()
	annotated := script{"tools/list": result(`{"tools":[
		{"name":"read","annotations":{"readOnlyHint":true}},
		{"name":"set","annotations":{"idempotentHint":true,"destructiveHint":false}},
		{"name":"drop","annotations":{}}]}`)}.whole()
	want := map[string]tools.Hints{
		"read": {Class: tools.Read}, "set": {Class: tools.Idempotent}, "drop": {Destructive: true},
	}
	trusted := serve(t, annotated, &Options{Trust: []string{"s", "nobody"}})
	for name, tool := range list(t, trusted) {
		equal(t, name, fmt.Sprintf("%+v", tool.Hints), fmt.Sprintf("%+v", want[name]))
	}
	equal(t, "warnings", strings.Join(trusted.Warnings(), "\n"),
		`Options.Trust names "nobody", but there is no enabled mcp server of that name`)
	for name, tool := range list(t, serve(t, annotated, nil)) {
		equal(t, name, fmt.Sprintf("%+v", tool.Hints), fmt.Sprintf("%+v", tools.Hints{}))
	}
}
