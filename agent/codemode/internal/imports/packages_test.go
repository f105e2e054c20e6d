package imports_test

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// shop has packages of every kind.
//
//go:embed testdata/shop.txtar
var shop string

var allowed = []string{
	"plain", "mapped", "browser", "@scope/one", "optional", "needs", "json", "typed", "later", "await", "effects",
	"broken", "thief", "dep",
	"linked", "inner", "escape", "absolute", "huge", "many", "deep", "weird", "bomb", "map", "loop",
}

// TestPackages runs the programs in testdata/imports.txtar.
func TestPackages(t *testing.T) {
	t.Parallel()
	b, box := open(t)
	c := b.With(imports.New(rooted(shop), allowed, nil))
	archive, err := txtar.ParseFile("testdata/imports.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for both := range slices.Chunk(archive.Files, 2) {
		t.Run(both[0].Name, func(t *testing.T) {
			t.Parallel()
			source := strings.TrimSuffix(string(both[0].Data), "\n")
			want := strings.TrimSuffix(string(both[1].Data), "\n")
			if got := result(t, box, c, source); got != want {
				t.Errorf("%s\ngave %s\nwant %s", source, got, want)
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
