package sandbox_test

import (
	"context"
	"fmt"
	"log"
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// The guardrails of mcp-code-mode, which keep programs short and plain.
func ExampleRules() {
	box, err := sandbox.New(&sandbox.Options{Rules: &sandbox.Rules{
		Characters: 8000, Lines: 400,
		Names: []string{"eval", "Function", "process", "constructor", "__proto__"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	review, err := box.Check(context.Background(), sandbox.Program{Source: `const make = [].constructor;
const { process } = globalThis;
1`})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range review.Findings {
		fmt.Println(f)
	}
	// Output:
	// line 1, column 17: constructor is not allowed here (do without it)
	// 1 | const make = [].constructor;
	//   |                 ^
	// line 2, column 9: process is not allowed here (do without it)
	// 2 | const { process } = globalThis;
	//   |         ^
}

func TestRules(t *testing.T) {
	t.Parallel()
	words := sandbox.Rules{Names: []string{"eval", "constructor", "__proto__"}}
	for _, test := range []struct {
		name, source string
		rules        sandbox.Rules
		want         []string
	}{
		{"no findings", "const a = 1;\na", sandbox.Rules{Characters: 14, Lines: 2}, nil},
		{"a line break at the end does not begin a line", "1\n2\n", sandbox.Rules{Lines: 2}, nil},
		{"lengths together", "1;\n2;\n3", sandbox.Rules{Characters: 6, Lines: 2}, []string{
			"policy_violation 0:0 the program has 7 characters; 6 are allowed",
			"policy_violation 0:0 the program has 3 lines; 2 are allowed",
		}},
		{"characters are not bytes", "'äöü'", sandbox.Rules{Characters: 5}, nil},
		{"names", "const o = {};\no.constructor; o[`constructor`]; ev\\u0061l; ({ __proto__: o })", words, []string{
			"policy_violation 2:3 constructor is not allowed here",
			"policy_violation 2:18 constructor is not allowed here",
			"undeclared 2:34 eval is not defined",
			"policy_violation 2:34 eval is not allowed here",
			"policy_violation 2:48 __proto__ is not allowed here",
		}},
		{"names as texts", `({})["constructor"]`, words, []string{"policy_violation 1:6 constructor is not allowed here"}},
		{"the constructor of a class, texts and comments", `class A { constructor() {} } // eval` + "\n'eval'", words, nil},
		{"names in every spelling", "const fs = {}, part = 'ev', key = `${part}al`;\n" +
			"fs[`eval`]; fs?.['eval']; fs?.eval; fs['ev' + `al`]; fs.\\u0065val; fs['\\x65val'];\n" +
			"const { eval: a } = fs, { ['eval']: b } = fs; ({ 'eval': c } = fs);\nfs[part + 'al']; fs[key]; " +
			"Reflect.get(fs, 'eval'); var c", words, []string{
			"policy_violation 2:4 eval is not allowed here", "policy_violation 2:18 eval is not allowed here",
			"policy_violation 2:31 eval is not allowed here", "policy_violation 2:40 eval is not allowed here",
			"policy_violation 2:57 eval is not allowed here", "policy_violation 2:71 eval is not allowed here",
			"policy_violation 3:9 eval is not allowed here", "policy_violation 3:28 eval is not allowed here",
			"policy_violation 3:50 eval is not allowed here", "policy_violation 4:4 eval is not allowed here",
			"policy_violation 4:21 eval is not allowed here",
		}},
		{"concatenated names", `const c = "constructor"; ({})["con" + "structor"][c]`, words, []string{
			"policy_violation 1:31 constructor is not allowed here",
			"policy_violation 1:51 constructor is not allowed here",
		}},
		{"patterns", "let secret = 1; // SECRET\nfoo()",
			sandbox.Rules{Patterns: []*regexp.Regexp{regexp.MustCompile(`(?i)secret`)}}, []string{
				`policy_violation 1:5 "secret" is not allowed here`,
				`policy_violation 1:20 "SECRET" is not allowed here`,
				`undeclared 2:1 foo is not defined`,
			}},
		{"with a syntax error", "let secret = ;", sandbox.Rules{Patterns: []*regexp.Regexp{regexp.MustCompile(`secret`)}},
			[]string{
				`policy_violation 1:5 "secret" is not allowed here`,
				`syntax 1:14 unexpected ; in expression`,
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			box, err := sandbox.NewInProcess(&sandbox.Options{Rules: &test.rules})
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close()
			out, err := box.Run(t.Context(), sandbox.Program{Source: test.source})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if out.Failure != nil {
				for _, f := range out.Failure.Findings {
					got = append(got, fmt.Sprintf("%s %d:%d %s", f.Kind, f.Line, f.Column, f.Message))
				}
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestRulesAreValidated(t *testing.T) {
	t.Parallel()
	rules := &sandbox.Rules{Lines: -1, Names: []string{""}, Patterns: []*regexp.Regexp{nil}}
	for name, open := range map[string]func(*sandbox.Options) (*sandbox.Sandbox, error){
		"isolated": sandbox.New, "inprocess": sandbox.NewInProcess,
	} {
		_, err := open(&sandbox.Options{Rules: rules})
		if err == nil || strings.Count(err.Error(), "sandbox: ") != 3 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
