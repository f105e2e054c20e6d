package imports_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/imports"
)

// Imports of packages that are not allowed are refused, whatever their syntax.
func TestRefusedImports(t *testing.T) {
	t.Parallel()
	compiler, box := open(t)
	compiled := compiler.With(imports.New(rooted(`
-- good/package.json --
{}
-- good/index.js --
module.exports = "good"
-- evil/package.json --
{}
-- evil/index.js --
module.exports = "evil"
`), []string{"good"}, nil))
	const refused = `the package "evil" may not be imported`
	for source, want := range map[string]string{
		`import x from "good"; x`:                                                     "good",
		`import type { T } from "evil"; 5`:                                            "5",
		"// import \"evil\"\n'import \"evil\"'":                                       `import \"evil\"`,
		`import x from "evil"; x`:                                                     refused,
		strings.Repeat("// import \"good\"\n", 30) + `import x from "evil"; x`:        refused,
		"import x from\x00\"evil\"; x":                                                `expected string but found "\x00"`,
		"import\x00x\x00from\x00'evil'; x":                                            `unexpected "\x00"`,
		"import x from\u2028\"evil\"; x":                                              refused,
		"import\u00a0x\u3000from\ufeff'evil'; x":                                      refused,
		"return x; import x from 'evil'":                                              refused,
		"`\n${0}`; import\n{\ndefault as x } from 'evil'; x":                          refused,
		"import x from/* \"good\" */\u00a0\"evil\"; x":                                refused,
		`import { default as x } from "evil"; x`:                                      refused,
		`import * as x from "evil"; x.default`:                                        refused,
		`import {"1;import e from 'evil';export const z=e" as y} from "writ:shim"; y`: `"writ:shim" is not a package`,
		"import {'. as q,\"import(`evil`)\" as y} from \"writ:shim\";//' as c} from 'good'; typeof c; (await y).default": "y is not defined",
		`import "evil"; 1`:                               refused,
		`(await import("evil")).default`:                 refused,
		"(await import(/* good */\"evil\", {})).default": refused,
	} {
		if got := result(t, box, compiled, source); !strings.Contains(got, want) {
			t.Errorf("%.80q: got %s, want %s", source, got, want)
		}
	}
}
