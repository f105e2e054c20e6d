package imports_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/agent/codemode/internal/imports"
)

// rooted returns a file system with the files of an archive.
func rooted(archive string) fstest.MapFS {
	root := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		root[f.Name] = &fstest.MapFile{Data: f.Data, ModTime: time.Unix(1, 0)}
	}
	return root
}

const shop = `
-- plain/package.json --
{"main": "lib/main"}
-- plain/lib/main.js --
exports.name = 'plain'; exports.deep = require('./deep').deep; exports.dep = require('dep').version
-- plain/lib/deep/index.js --
exports.deep = 'deep'
-- plain/extra.js --
module.exports = () => 'extra'
-- plain/node_modules/dep/package.json --
{"main": "./index.cjs"}
-- plain/node_modules/dep/index.cjs --
exports.version = 'nested'
-- dep/package.json --
{"module": "esm.js", "main": "cjs.js"}
-- dep/esm.js --
export const version = 'top'; export default class Dep {}
-- dep/cjs.js --
throw new Error('the wrong file')
-- mapped/package.json --
{"exports": {
  ".": {"node": "./node.js", "import": {"types": "./x.d.ts", "default": "./esm.js"}, "require": "./cjs.js"},
  "./features/*.js": "./src/*.js", "./features/*": "./src/*.js", "./features/private/*": null,
  "./list": ["./nowhere:at/all", "./esm.js"], "./out": "../../../etc/passwd", "./deps": "./node_modules/dep/index.js"},
 "imports": {"#inner": "./inner.js", "#dep": {"default": "dep"}},
 "dependencies": {"dep": "1"}}
-- mapped/esm.js --
import {inner} from '#inner'; import {version} from '#dep'; export const kind = 'esm ' + inner + ' ' + version
-- mapped/cjs.js --
exports.kind = 'cjs'
-- mapped/inner.js --
export const inner = 'inner'
-- mapped/src/a.js --
export default 'feature a'
-- mapped/src/private/b.js --
export default 'private'
-- browser/package.json --
{"main": "./main.js", "browser": {"./main.js": "./web.js", "./node.js": false, "net": "./net.js"}}
-- browser/main.js --
throw new Error('the wrong file')
-- browser/web.js --
exports.all = [require('./node.js'), require('net')]
-- browser/node.js --
throw new Error('the wrong file')
-- browser/net.js --
module.exports = 'no network'
-- @scope/one/package.json --
{"type": "module", "main": "index.js", "sideEffects": false}
-- @scope/one/index.js --
export {a} from './a.js'; export {b} from './b.js'
-- @scope/one/a.js --
export const a = 'a'; globalThis.effect = 'not to be seen'
-- @scope/one/b.js --
export const b = () => globalThis.effect
-- optional/package.json --
{"peerDependencies": {"missing": "*"}}
-- optional/index.js --
let found = [];
for (const f of [() => require('missing'), () => require('fs'), () => require('node:crypto')]) {
  try { f() } catch (e) { found.push(e.message) }
}
module.exports = found
-- needs/index.js --
module.exports = require('fs').readFileSync('/etc/passwd')
-- needs/package.json --
{}
-- json/package.json --
{"main": "data.json"}
-- json/data.json --
{"a": [1, 2]}
-- typed/package.json --
{"main": "index.ts"}
-- typed/index.ts --
export enum E { A = 3 }
-- later/package.json --
{"type": "module"}
-- later/index.js --
export async function* g() { yield 1 } ; export const m = /^\p{L}$/u.test('ß')
-- await/package.json --
{}
-- await/index.mjs --
export const a = await Promise.resolve(1)
-- effects/package.json --
{}
-- effects/index.js --
globalThis.seen = 'effect'
-- broken/package.json --
{"main": "index.js"}
-- broken/index.js --
export const a = ;
-- secret/package.json --
{}
-- secret/index.js --
module.exports = 'secret'
-- thief/package.json --
{"main": "index.js"}
-- thief/index.js --
module.exports = require('secret')
-- thief/up.js --
module.exports = require('../secret/index.js')
`

var allowed = []string{
	"plain", "mapped", "browser", "@scope/one", "optional", "needs", "json", "typed", "later", "await", "effects",
	"broken", "thief", "dep",
	"linked", "inner", "escape", "absolute", "huge", "many", "deep", "weird", "bomb", "map", "loop",
}

func TestPackages(t *testing.T) {
	t.Parallel()
	b, box := open(t)
	c := b.With(imports.New(rooted(shop), allowed, nil))
	for name, test := range map[string]struct{ source, want string }{
		"main":           {"import {name, deep, dep} from 'plain'; [name, dep]", `["plain","nested"]`},
		"default of CJS": {"import plain from 'plain'; plain.name", `"plain"`},
		"a file":         {"import extra from 'plain/extra'; extra()", `"extra"`},
		"module":         {"import Dep, {version} from 'dep'; [version, new Dep() instanceof Dep]", `["top",true]`},
		"all":            {"import * as dep from 'dep'; Object.keys(dep).sort()", `["default","version"]`},
		"exports":        {"import {kind} from 'mapped'; kind", `"esm inner top"`},
		"patterns": {"import a from 'mapped/features/a'; import b from 'mapped/features/a.js'; [a, b]",
			`["feature a","feature a"]`},
		"fallbacks": {"import {kind} from 'mapped/list'; kind",
			"line 1, column 20: no file was found for \"mapped/list\"\n1 | import {kind} from 'mapped/list'; kind\n  |    " +
				"                ^"},
		"private": {"import b from 'mapped/features/private/b'; b",
			"line 1, column 15: the package \"mapped\" has no module \"mapped/features/private/b\"\n1 | import b from " +
				"'mapped/features/private/b'; b\n  |               ^"},
		"not exported": {"import b from 'mapped/inner.js'; b",
			"line 1, column 15: the package \"mapped\" has no module \"mapped/inner.js\"\n1 | import b from " +
				"'mapped/inner.js'; b\n  |               ^"},
		"browser":        {"import {all} from 'browser'; all", `[{},"no network"]`},
		"scope":          {"import {a} from '@scope/one'; a", `"a"`},
		"unused effects": {"import {b} from '@scope/one'; b()", "undefined"},
		"effects":        {"import 'effects'; globalThis.seen", `"effect"`},
		"optional": {"import found from 'optional'; found",
			`["optional/index.js: the package \"missing\" is not installed","optional/index.js: the Node module \"fs\" ` +
				`is not available","optional/index.js: the Node module \"node:crypto\" is not available"]`},
		"Node's": {"import n from 'needs'; n",
			`while its imports were loaded: Error: needs/index.js: the Node module "fs" is not available`},
		"JSON":           {"import d from 'json'; d", `{"a":[1,2]}`},
		"TypeScript":     {"import {E} from 'typed'; E.A", "3"},
		"later language": {"import {g, m} from 'later'; let n = 0; for await (const x of g()) n += x; [n, m]", "[1,true]"},
		"import()": {"const {version, default: D} = await import('dep');\nconst {kind} = await " +
			"import('mapped'); [version, typeof D, kind]", `["top","function","esm inner top"]`},
		"import() of CJS": {"const m = await import('plain'); [m.name, m.default.name]", `["plain","plain"]`},
		"twice":           {"import {version as a} from 'dep'; import {version as b} from 'dep'; a + b", `"toptop"`},
		"with return":     {"import {version} from 'dep';\nif (version) return version as string;\nawait sleep(1)", `"top"`},
		"in the middle":   {"const x: string = version;\nimport {version} from 'dep';\nx", `"top"`},
		"shadowed": {"import {version} from 'dep';\nconst f = (version: number) => version; [f(1), version]",
			`[1,"top"]`},
		"no names left": {"import {version} from 'dep'; typeof library + typeof i0 + typeof __filename + version",
			`"undefinedundefinedundefinedtop"`},

		"await": {"import {a} from 'await'; a",
			"line 1, column 17: await/index.mjs, line 1: top-level await is currently not supported with the \"iife\" " +
				"output format\n1 | import {a} from 'await'; a\n  |                 ^"},
		"broken": {"import {a} from 'broken'; a",
			"line 1, column 17: broken/index.js, line 1: unexpected \";\"\n1 | import {a} from 'broken'; a\n  |          " +
				"       ^"},
		"no export": {"import {versio} from 'dep'; versio",
			"line 1, column 22: \"dep\" has no export named versio\n1 | import {versio} from 'dep'; versio\n  " +
				"|                      ^"},
		"not allowed": {"import s from 'secret'; s",
			"line 1, column 15: the package \"secret\" may not be imported (available: @scope/one, await, broken, " +
				"browser, dep, effects, json, later, mapped, needs, optional, plain, thief, typed)\n1 | import s from " +
				"'secret'; s\n  |               ^"},
		"not installed": {"import s from 'linked'; s",
			"line 1, column 15: the package \"linked\" is not installed (available: @scope/one, await, broken, browser, " +
				"dep, effects, json, later, mapped, needs, optional, plain, thief, typed)\n1 | import s from 'linked'; s\n  " +
				"|               ^"},
		"by another": {"import s from 'thief'; s",
			`while its imports were loaded: Error: thief/index.js: the package "secret" is not installed`},
		"by a path": {"import s from 'thief/up.js'; s",
			`while its imports were loaded: Error: thief/up.js: node_modules/thief/up.js imports a file outside its ` +
				`package`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := result(t, box, c, test.source); got != test.want {
				t.Errorf("%s\ngave %s\nwant %s", test.source, got, test.want)
			}
		})
	}
}

// TestWhyNot lets a host explain why packages cannot be imported. The host must be asked
// only about those, and must not affect the packages that can be imported.
func TestWhyNot(t *testing.T) {
	t.Parallel()
	b, box := open(t)
	c := b.With(imports.New(rooted(shop), []string{"dep", "linked"}, func(name string) (message, hint string) {
		switch name {
		case "unknown":
			return "", "this is not told"
		case "secret":
			return "nobody may have " + name, ""
		}
		return "why not " + name, "ask for it"
	}))
	for source, want := range map[string]string{
		"import {version} from 'dep'; version": `"top"`,
		"import s from 'linked/x'; s": "line 1, column 15: why not linked (ask for it)\n1 | import s from " +
			"'linked/x'; s\n  |               ^",
		"import s from 'secret'; s": "line 1, column 15: nobody may have secret (available: dep)\n1 | " +
			"import s from 'secret'; s\n  |               ^",
		"import s from 'unknown'; s": "line 1, column 15: the package \"unknown\" may not be imported " +
			"(available: dep)\n1 | import s from 'unknown'; s\n  |               ^",
		"import s from 'fs'; s": "line 1, column 15: the Node module \"fs\" is not available (there is no " +
			"file system, network or process; use the declared tools)\n1 | import s from 'fs'; s\n  |               ^",
	} {
		if got := result(t, box, c, source); got != want {
			t.Errorf("%s\ngave %s\nwant %s", source, got, want)
		}
	}
}

// TestNoPackage imports modules that are not packages.
func TestNoPackage(t *testing.T) {
	t.Parallel()
	b, box := open(t)
	c := b.With(imports.New(rooted(shop), []string{"dep", "..", "../..", ".", "", "/etc", "a/b/c", "@", "node_modules"}, nil))
	for _, module := range []string{
		"fs", "node:fs", "fs/promises", "/etc/passwd", "../x", "./x", "..", ".", "", "file:///etc/passwd",
		"data:text/javascript,export default 1",
		"https://example.com/x.js", "#inner", "dep/../secret", "dep/../../etc/passwd", "dep//etc", "@", "@scope", "@/x",
		"node_modules/dep", "a\x00b", ".bin/x", "C:\\x", "writ:shim", "writ:0",
	} {
		for _, source := range []string{fmt.Sprintf("import x from %q; x", module), fmt.Sprintf("import %q", module),
			fmt.Sprintf("await import(%q)", module)} {
			t.Run(source, func(t *testing.T) {
				t.Parallel()
				got := result(t, box, c, source)
				if !strings.HasPrefix(got, "line 1, column ") || !strings.Contains(got, "\n1 | ") {
					t.Errorf("%s gave %s", source, got)
				}
			})
		}
	}
}

// TestLibraryIsKept checks that packages are read only once until the installation changes.
func TestLibraryIsKept(t *testing.T) {
	t.Parallel()
	b, box := open(t)
	files := rooted(shop)
	root := &counted{FS: files}
	c := b.With(imports.New(root, allowed, nil))
	const source = "import {version} from 'dep'; version"
	for range 3 {
		if got := result(t, box, c, source); got != `"top"` {
			t.Fatal(got)
		}
	}
	if n := strings.Count(root.list(), "esm.js"); n != 2 { // once for its type and once for its content
		t.Errorf("the file was opened %d times", n)
	}
	files["dep/esm.js"] = &fstest.MapFile{Data: []byte("export const version = 'new'")}
	files[".package-lock.json"] = &fstest.MapFile{Data: []byte("{}")}
	if got := result(t, box, c, source); got != `"new"` {
		t.Errorf("after an installation: %s", got)
	}
	files["dep/esm.js"] = &fstest.MapFile{Data: []byte("export const version = 'newer'")}
	files["dep/package.json"] = &fstest.MapFile{Data: []byte(`{"module": "./esm.js"}`)}
	if got := result(t, box, c, source); got != `"newer"` {
		t.Errorf("after another version: %s", got)
	}
	delete(files, "dep/package.json")
	if got := result(t, box, c, source); !strings.Contains(got, `the package "dep" is not installed`) {
		t.Errorf("after its end: %s", got)
	}
}

// TestHostilePackages bundles malicious and broken packages.
func TestHostilePackages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range txtar.Parse([]byte(shop)).Files {
		write("node_modules/"+f.Name, string(f.Data))
	}
	write("secret.js", "module.exports = 'secret'")
	write("tsconfig.json", `{"compilerOptions": {"paths": {"*": ["./secret.js"]}}}`)
	write("node_modules/escape/package.json", `{"main": "../../secret.js"}`)
	write("node_modules/absolute/package.json", `{"main": "/etc/passwd", "browser": "../../../../../../../etc/passwd"}`)
	write("node_modules/inner/package.json", `{}`)
	link("../../secret.js", "node_modules/inner/index.js")
	link("../../secret.js", "node_modules/inner/x.js")
	write("outside/package.json", `{}`)
	write("outside/index.js", `module.exports = 'outside'`)
	link("../outside", "node_modules/linked")
	write("node_modules/huge/package.json", `{}`)
	write("node_modules/huge/index.js", "module.exports = '"+strings.Repeat("x", 5<<20)+"'")
	write("node_modules/deep/package.json", `{"exports": `+strings.Repeat(`{"import":`, 1000)+`"./index.js"`+
		strings.Repeat("}", 1000)+`}`)
	write("node_modules/weird/package.json", `[{"main": 1}]`)
	write("node_modules/bomb/package.json", `{}`)
	write("node_modules/bomb/index.js", "module.exports = "+strings.Repeat("[", 100_000))
	write("node_modules/map/package.json", `{}`)
	write("node_modules/map/index.js",
		"module.exports = 'mapped'\n//# sourceMappingURL=../../../../../../../etc/passwd\n//# "+
			"sourceMappingURL=data:application/json;base64,e30=")
	write("node_modules/loop/package.json", `{}`)
	write("node_modules/loop/index.js", "import {b} from './b'; export const a = 1, c = () => b")
	write("node_modules/loop/b.js", "import {a} from './index'; export const b = 2, d = () => a")
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "import './f%d.js';\n", i)
		write(fmt.Sprintf("node_modules/many/f%d.js", i), "export {}")
	}
	write("node_modules/many/index.js", many.String())
	write("node_modules/many/package.json", `{}`)

	b, box := open(t)
	confined, err := os.OpenRoot(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { confined.Close() })
	const place = "line 1, column 15: "
	for kind, root := range map[string]fs.FS{"DirFS": os.DirFS(filepath.Join(dir, "node_modules")), "Root": confined.FS()} {
		c := b.With(imports.Limited(root, allowed, 250))
		for name, want := range map[string]string{
			"escape":     place + `no file was found for "escape"`,
			"absolute":   place + `no file was found for "absolute"`,
			"inner":      place + `no file was found for "inner"`,
			"inner/x.js": place + `no file was found for "node_modules/inner/x.js"`,
			"linked":     place + `the package "linked" is not installed`,
			"huge":       place + `node_modules/huge/index.js has more than 4194304 bytes`,
			"many":       place + `many/index.js, line `,
			"deep":       place + `node_modules/deep/package.json: it is nested too deeply`,
			"weird":      place + `node_modules/weird/package.json: json: cannot unmarshal array`,
			"bomb": "the compiler cannot parse the program; it may be nested too deeply (write a simpler program, " +
				"and import less)",
			"map":  `"mapped"`,
			"loop": place + `"loop" has no export named default`,
			"dep":  `[]`,
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				source := fmt.Sprintf("import x from %q; typeof x === 'function' ? [] : x", name)
				if got := result(t, box, c, source); !strings.Contains(got, want) {
					t.Errorf("gave %s\nwant %s", got, want)
				}
			})
		}
	}
}
