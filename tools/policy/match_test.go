package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	large := policy.Argument("amount", func(n float64) bool { return n > 100 })
	safe := policy.Argument("path", regexp.MustCompile(`^/tmp/`).MatchString)
	first := policy.Argument("/to/0", func(to string) bool { return to == "ann" })
	deep := policy.Argument("/file/path", regexp.MustCompile(`^/tmp/`).MatchString)
	whole := policy.Argument("file", func(f map[string]any) bool { return f["path"] == nil })
	odd := policy.Argument("/a~1b/c~0d", func(b bool) bool { return b })
	exact := policy.Argument("n", func(n json.Number) bool { return n == "9007199254740993" })
	type file struct {
		Path string `json:"path"`
		Next []struct {
			Path string `json:"path"`
		}
	}
	under := policy.Argument("file", func(f file) bool { return f.Path == "/safe" })
	never := policy.Argument("n", func(int) bool { t.Error("asked"); return true })
	tests := []struct {
		name  string
		match policy.Match
		path  string
		args  string
		want  string // yes, no, or what the model reads
	}{
		{"name", policy.Tools("mail.send"), "mail.send", `{}`, "yes"},
		{"other name", policy.Tools("mail.send"), "mail.sent", `{}`, "no"},
		{"glob", policy.Tools("x", "mail.*"), "mail.send", `{}`, "yes"},
		{"glob in the middle", policy.Tools("*.s*d"), "mail.send", `{}`, "yes"},
		{"globs do not overlap", policy.Tools("mail.sen*nd"), "mail.send", `{}`, "no"},
		{"glob of everything", policy.Tools("*"), "mail.send", `{}`, "yes"},
		{"glob of the server alone", policy.Tools("mail*"), "mail.send", `{}`, "yes"},
		{"a dot is a dot", policy.Tools("mail?send", "mailxsend"), "mail.send", `{}`, "no"},
		{"own name", policy.Tools("files.read/now"), "files.read_now", `{}`, "yes"},
		{"name in programs", policy.Tools("files.read_now"), "files.read_now", `{}`, "yes"},
		{"host's tool", policy.Tools("refund"), "refund", `{}`, "yes"},
		{"no names", policy.Tools(), "refund", `{}`, "no"},
		{"zero", policy.Match{}, "refund", `{}`, "no"},
		{"not zero", policy.Not(policy.Match{}), "refund", `{}`, "yes"},
		{"class", policy.Class(tools.Idempotent, tools.Read), "files.read_now", `{}`, "yes"},
		{"other class", policy.Class(tools.Read), "refund", `{}`, "no"},
		{"destructive", policy.Destructive(), "refund", `{}`, "yes"},
		{"not destructive", policy.Destructive(), "mail.send", `{}`, "no"},
		{"argument", large, "refund", `{"amount":100.5}`, "yes"},
		{"other argument", large, "refund", `{"amount":100}`, "no"},
		{"argument in another case", large, "refund", `{"Amount":1000}`,
			`denied: the argument amount: the name "Amount" differs from "amount" only in case`},
		{"argument in two cases", safe, "refund", `{"path":"/tmp/x","Path":"/etc/shadow"}`,
			`denied: the argument path: the name "Path" differs from "path" only in case`},
		{"argument in two cases, not", policy.Not(safe), "refund", `{"path":"/tmp/x","PATH":"/etc/shadow"}`,
			`denied: the argument path: the name "PATH" differs from "path" only in case`},
		{"letters of other alphabets", policy.Argument("k", func(string) bool { return true }), "refund",
			"{\"\u212a\":\"/etc\"}", "denied: the argument k: the name \"\u212a\" differs from \"k\" only in case"},
		{"step in two cases", deep, "refund", `{"file":{"path":"/tmp/x"},"FILE":{"path":"/etc"}}`,
			`denied: the argument /file/path: the name "FILE" differs from "file" only in case`},
		{"last step in two cases", deep, "refund", `{"file":{"path":"/tmp/x","Path":"/etc"}}`,
			`denied: the argument /file/path: the name "Path" differs from "path" only in case`},
		{"other names in two cases", deep, "refund", `{"file":{"path":"/tmp/x"},"Other":1,"other":1}`, "yes"},
		{"argument of the schema in another case", whole, "typed", `{"file":{"Path":"/etc"}}`,
			"denied: file.Path is not a known property (did you mean path?)"},
		{"argument of the schema in its case", whole, "typed", `{"file":{"path":"/etc"},"x":{"Path":1}}`, "no"},
		{"top-level argument in another case", policy.Tools("none"), "typed", `{"File":{"path":"/etc"}}`,
			"invalid_arguments: File is not a known property (did you mean file?)"},
		{"no argument", large, "refund", `{}`, "no"},
		{"null argument", large, "refund", `{"amount":null}`, "no"},
		{"wrong argument", large, "refund", `{"amount":"1000"}`, "denied: the argument amount must be a float64"},
		{"wrong argument, not", policy.Not(large), "refund", `{"amount":"1000"}`,
			"denied: the argument amount must be a float64"},
		{"wrong argument, or", policy.Or(large, policy.Destructive()), "refund", `{"amount":[]}`, "yes"},
		{"wrong argument, and", policy.And(policy.Destructive(), large), "refund", `{"amount":[]}`,
			"denied: the argument amount must be a float64"},
		{"pattern", safe, "refund", `{"path":"\/tmp\/x"}`, "yes"},
		{"pattern elsewhere", safe, "refund", `{"path":"/etc/tmp/"}`, "no"},
		{"part of an argument", first, "refund", `{"to":["ann","bob"]}`, "yes"},
		{"other part", first, "refund", `{"to":["bob","ann"]}`, "no"},
		{"a missing part", first, "refund", `{"to":[]}`, "no"},
		{"no array", first, "refund", `{"to":"ann"}`, "no"},
		{"escaped pointer", odd, "refund", `{"a/b":{"c~d":true}}`, "yes"},
		{"large integer", exact, "refund", `{"n":9007199254740993}`, "yes"},
		{"structure", under, "refund", `{"file":{"path":"/safe","other":1,"Next":[{"path":"/"}]}}`, "yes"},
		{"other structure", under, "refund", `{"file":{"path":"/etc"}}`, "no"},
		{"name in two cases", under, "refund", `{"file":{"path":"/etc","Path":"/safe"}}`,
			"denied: the argument file: Path is not a known property (did you mean path?)"},
		{"name in another case, not", policy.Not(under), "refund", `{"file":{"PATH":"/safe"}}`,
			"denied: the argument file: PATH is not a known property (did you mean path?)"},
		{"deep name in another case", under, "refund", `{"file":{"path":"/safe","Next":[{"Path":"/"}]}}`,
			"denied: the argument file: Next[0].Path is not a known property (did you mean path?)"},
		{"name given twice", under, "refund", `{"file":{"path":"/etc","path":"/safe"}}`,
			"invalid_arguments: file.path is given twice"},
		{"own function", policy.Func(func(c tools.Call) bool { return c.Line == 3 }), "refund", `{}`, "yes"},
		{"and", policy.And(policy.Tools("mail.*"), never), "refund", `{"n":1}`, "no"},
		{"and without operands", policy.And(), "refund", `{}`, "yes"},
		{"or", policy.Or(policy.Tools("refund"), never), "refund", `{"n":1}`, "yes"},
		{"or of some", policy.Or(safe, large), "refund", `{"amount":101}`, "yes"},
		{"or without operands", policy.Or(), "refund", `{}`, "no"},
		{"nested", policy.Not(policy.And(large, policy.Not(safe))), "refund", `{"amount":101,"path":"/tmp/x"}`, "yes"},
	}
	set := newSet(t,
		tool("mail.send", tools.Hints{}, answer(`"no"`, nil)), tool("mail.sent", tools.Hints{}, answer(`"no"`, nil)),
		tool("files.read/now", tools.Hints{Class: tools.Read}, answer(`"no"`, nil)),
		tool("refund", tools.Hints{Destructive: true}, answer(`"no"`, nil)),
		&tools.Tool{Name: "typed", Handler: answer(`"no"`, nil),
			InputSchema: json.RawMessage(`{"properties":{"file":{"properties":{"path":{}}}}}`)})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := told(call(t.Context(), set.With(policy.Deny(test.match, "yes")), test.path, test.args))
			switch got {
			case `"no"`:
				got = "no"
			case "denied: yes":
				got = "yes"
			}
			equal(t, test.match.String(), got, test.want)
		})
	}
}

// A server cannot choose names so that its tools match the pattern of another server.
func TestToolsOfServers(t *testing.T) {
	t.Parallel()
	const (
		unclear = "denied: the policy's pattern files.readonly.* is ambiguous and may match %s; its author must quote the " +
			"name of the server, as in %q.*"
		dotted = `"files.readonly".*`
	)
	set := newSet(t,
		&tools.Tool{Namespace: "files", Name: "readonly.rm", Handler: answer(`"called"`, nil)},
		&tools.Tool{Namespace: "files.readonly", Name: "read", Handler: answer(`"called"`, nil)},
		&tools.Tool{Namespace: "sa-fe", Name: "rm", Handler: answer(`"called"`, nil)})
	either := []string{fmt.Sprintf(unclear, "files.readonly_rm", "files"),
		fmt.Sprintf(unclear, "files_readonly.read", "files.readonly"), ""}
	for _, test := range []struct {
		pattern string
		want    []string // how calls of the three tools end; "" means not matched
	}{
		{dotted, []string{"", "yes", ""}},
		{"files.readonly.*", either},
		{`"files".readonly.*`, []string{"yes", "", ""}},
		{"files.*", []string{"yes", "", ""}},
		{"files*.*", []string{"yes", "yes", ""}},
		{"files*", []string{"yes", "yes", ""}},
		{"*.rm", []string{"yes", "", "yes"}},
		{"*.*.rm", []string{"denied: the policy's pattern *.*.rm is ambiguous and may match files.readonly_rm; its author " +
			"must quote the name of the server, as in \"files\".*", "", ""}},
		{"files.readonly_rm", []string{"yes", "", ""}},
		{"files_readonly.*", []string{"", "", ""}},
		{"sa_fe.*", []string{"", "", ""}},
		{"sa-fe.*", []string{"", "", "yes"}},
		{`"sa-fe".rm`, []string{"", "", "yes"}},
		{`"sa-*".rm`, []string{"", "", ""}},
		{`"sa-fe"rm`, []string{"", "", ""}},
		{"*", []string{"yes", "yes", "yes"}},
	} {
		m := policy.Tools(test.pattern)
		for i, path := range []string{"files.readonly_rm", "files_readonly.read", "sa_fe.rm"} {
			matched, other := test.want[i], `"called"`
			switch matched {
			case "":
				matched, other = `"called"`, "denied: yes"
			case "yes":
				matched = "denied: yes"
			default: // by both
				other = matched
			}
			end := func(p tools.Policy) string { return told(call(t.Context(), set.With(p), path, `{}`)) }
			equal(t, test.pattern+" denied, "+path, end(policy.Deny(m, "yes")), matched)
			equal(t, test.pattern+" allowed, "+path, end(policy.Allow(m, "yes")), other)
			equal(t, "not "+test.pattern+", "+path, end(policy.Deny(policy.Not(m), "yes")), other)
		}
	}
}

func TestMatchString(t *testing.T) {
	t.Parallel()
	path := policy.Argument("path", regexp.MustCompile(`^/tmp/`).MatchString)
	for want, m := range map[string]policy.Match{
		"none":                                 {},
		"mail.*, refund":                       policy.Tools("mail.*", "refund"),
		"tools of class read, idempotent":      policy.Class(tools.Read, tools.Idempotent),
		"destructive tools":                    policy.Destructive(),
		"calls that the host selects":          policy.Func(nil),
		"calls with a permitted argument n":    policy.Argument("n", func(int) bool { return true }),
		"calls with a permitted argument path": path,
		"(fs.* and (not destructive tools)) or (not none)": policy.Or(policy.And(policy.Tools("fs.*"),
			policy.Not(policy.Destructive())), policy.Not(policy.Match{})),
	} {
		equal(t, "text", m.String(), want)
	}
}

// Only * has a special meaning in patterns.
func FuzzTools(f *testing.F) {
	f.Add("a*b*c", "aXbYc")
	f.Add("*", "")
	f.Add("a*a", "a")
	f.Add("*.*", "x.y.z")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		b := &tools.Binding{Tool: &tools.Tool{Name: name}, Names: []string{name}}
		var text []byte
		for _, c := range []byte(pattern) {
			if c == '*' {
				text = append(text, `(?s:.*)`...)
			} else {
				text = append(text, regexp.QuoteMeta(string(rune(c)))...)
			}
		}
		for _, c := range []byte(pattern + name) {
			if c >= 0x80 {
				t.Skip("the reference is in runes")
			}
		}
		want := regexp.MustCompile(`\A` + string(text) + `\z`).MatchString(name)
		p := policy.Deny(policy.Tools(pattern), "")
		if got := p.Guards(b); got != want {
			t.Errorf("%q matches %q: %v", pattern, name, got)
		}
	})
}

// A repetition that the program names is passed through policies. If it is refused, nothing is
// settled: the next program has to name it again.
func TestRepeats(t *testing.T) {
	t.Parallel()
	sent := 0
	send := tools.Func("send", "", func(context.Context, struct{}) (string, error) {
		sent++
		return "", &tools.ToolError{Kind: tools.KindFailed, Message: "504"}
	}, &tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(t.Context(), send)
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.Deny(policy.Repeats(), "no effect is repeated here"))
	j := journal.New(nil)
	for _, test := range []struct {
		repeat *tools.Repeat
		want   string
	}{
		{nil, "tool send: 504"},
		{&tools.Repeat{Again: []string{"E1"}}, "tool send: no effect is repeated here"},
		{nil, `send({}) was held: E1 made exactly this call and reported an error, so it may have taken ` +
			`effect. First check ` +
			`what took effect, if a tool can show that, and leave that out. Pass {distinct: "E1", again: "E1"} as the ` +
			`second argument of every call of send, with only those under again that did not take effect`},
	} {
		call := dispatch.New(set, j.Attempt()).Issue(tools.Call{Args: json.RawMessage(`{}`), Repeat: test.repeat}, 0)
		if _, err := call.Perform(t.Context()); err == nil || err.Error() != test.want {
			t.Errorf("%v: got  %v\nwant %s", test.repeat, err, test.want)
		}
	}
	if sent != 1 {
		t.Errorf("%d were sent", sent)
	}
}
