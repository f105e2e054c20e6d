package typescript_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// claims are the phrases of Describe, each with a program that tests it. The program returns
// true if the feature is available, and fails if it is not.
var claims = map[string]struct{ program, outcome string }{
	"Types are removed, not checked": {`const n: string = 1 as any as number as any; (n as any) === 1`, "true"},
	"Async generators":               {`async function* f() { yield 1 } (await f().next()).value === 1`, "true"},
	"for await":                      {`let n = 0; for await (const x of [1]) n = x; n === 1`, "true"},
	"decorators": {`const d = (f: Function, _: unknown) => () => true; class A { @d f() { ` +
		`return false } } new A().f()`, "true"},
	"using work":                   {`let n = 0; { using a = {[Symbol.dispose]() { n++ }} } n === 1`, "true"},
	"URL,":                         {`new URL('http://example.com/a').pathname === '/a'`, "true"},
	"TextEncoder":                  {`new TextEncoder().encode('ü').length === 2`, "true"},
	"TextDecoder":                  {`new TextDecoder().decode(new Uint8Array([195, 188])) === 'ü'`, "true"},
	"WeakRef":                      {`const o = {}; new WeakRef(o).deref() === o`, "true"},
	"Promise.try":                  {`await Promise.try(() => true)`, "true"},
	"Array.fromAsync":              {`(await Array.fromAsync([1])).length === 1`, "true"},
	`\p{…} in regular expressions`: {`/^\p{Lu}$/u.test('Ü')`, "true"},
	"require":                      {`require('fs')`, ""},
	"fetch":                        {`fetch('http://example.com')`, ""},
	"process":                      {`process.env`, ""},
	"Intl":                         {`new Intl.NumberFormat()`, ""},
	"fs":                           {`fs.readFileSync('a')`, ""},
	"Nothing can be imported":      {`import 'plain'`, ""},
	"- Programs may be TypeScript": {`true`, "true"},
}

// TestDescribe checks that each claim is true and that Describe makes no other claims.
func TestDescribe(t *testing.T) {
	t.Parallel()
	b, box := open(t, nil)
	text := b.Describe()
	rest := text
	for phrase, claim := range claims {
		if !strings.Contains(text, phrase) {
			t.Errorf("Describe does not contain %q", phrase)
		}
		rest = strings.Replace(rest, phrase, "", 1)
		out, err := box.Run(t.Context(), sandbox.Program{Source: claim.program, Compiler: b})
		if err != nil {
			t.Fatal(err)
		}
		if (out.Failure != nil) != (claim.outcome == "") || string(out.Value) != claim.outcome {
			t.Errorf("%s: %s gave %s, %v", phrase, claim.program, out.Value, out.Failure)
		}
	}
	for _, word := range []string{"There are also", "There is no", " and ", " or "} {
		rest = strings.ReplaceAll(rest, word, "")
	}
	if rest = strings.Trim(strings.NewReplacer(",", "", ".", "", "-", "", "\n", "", " ", "").Replace(rest),
		" "); rest != "" {
		t.Errorf("nothing tries: %s", rest)
	}
}
