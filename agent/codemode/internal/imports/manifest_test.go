package imports

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/writ-go/writ/internal/bundling"
)

// FuzzManifest resolves imports with any package.json. The resolver must not find files
// outside of the packages, or files that may not be read.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{
		`{"main": "../../../etc/passwd"}`, `{"main": "lib", "browser": {"./lib.js": "../x", "y": false}}`,
		`{"exports": "./a.js"}`,
		`{"exports": {".": [{"import": "./a.js"}, null, "./b.js"], "./*": "./*/../../x.js"}, "imports": {"#a/*": ` +
			`"secret/*"}}`,
		`{"exports": {"import": "./node_modules/secret/x.js"}}`,
		`{"sideEffects": ["*.css", "./a[", "**"], "module": "/etc/passwd"}`, `[]`,
		`{"exports": {"./*": "./*.js"}, "dependencies": {"../x": 1, "secret": 1}}`,
	} {
		f.Add(seed, "a", "./a.js")
		f.Add(seed, "a/b", "#a/../x")
		f.Add(seed, "secret", "../secret/x.js")
	}
	f.Fuzz(func(t *testing.T, manifest, first, second string) {
		root := fstest.MapFS{
			"a/package.json": {Data: []byte(manifest)}, "a/a.js": {Data: []byte("1")},
			"a/index.js":          {Data: []byte("1")},
			"secret/package.json": {Data: []byte("{}")}, "secret/x.js": {Data: []byte("1")},
			"a/node_modules/secret/x.js": {Data: []byte("1")}, "../secret.js": {Data: []byte("1")},
		}
		s := newSnapshot(root, []string{"a"}, 100, 1<<20)
		seen := &watched{snapshot: s}
		r := newResolver(seen)
		importer := ""
		for _, module := range []string{first, second, first} {
			for _, require := range []bool{true, false} {
				if found, err := r.resolve(importer, module, require); err == nil && !found.Empty {
					importer = found.Path
				}
			}
		}
		for _, p := range seen.found {
			if !strings.HasPrefix(p, "node_modules/a/") && !strings.HasPrefix(p,
				"node_modules/secret/") || strings.Contains(p, "..") {
				t.Fatalf("%s was read", p)
			}
			if strings.Contains(p, "secret") && !s.allowed["secret"] {
				t.Fatalf("%s was read, but %s does not depend on it", p, manifest)
			}
		}
	})
}

// watched records the files that it returned.
type watched struct {
	*snapshot
	found []string
}

// First implements [bundling.Files].
func (w *watched) First(paths []string) (bundling.File, error) {
	f, err := w.snapshot.First(paths)
	if f.Path != "" {
		w.found = append(w.found, f.Path)
	}
	return f, err
}

// TestSnapshot requests files that a worker may not read.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{
		"a/package.json":        {Data: []byte(`{"dependencies": {"b": "1", "../c": "1"}}`)},
		"a/x.js":                {Data: []byte("x")},
		"a/node_modules/c/x.js": {Data: []byte("c")}, "b/package.json": {Data: []byte("{}")},
		"b/x.js": {Data: []byte("b")},
		"c/x.js": {Data: []byte("c")}, "../secret.js": {Data: []byte("secret")},
		".package-lock.json": {Data: []byte("{}")}, "x.js": {Data: []byte("x")},
	}
	s := newSnapshot(root, []string{"a"}, 100, 1<<20)
	refuses := func(paths ...string) {
		t.Helper()
		for _, p := range paths {
			if f, err := s.First([]string{p}); err != nil || f.Path != "" {
				t.Errorf("%s: got %v, %v", p, f, err)
			}
		}
	}
	refuses("node_modules/b/x.js", "node_modules/b/package.json") // before a manifest that depends on b was read
	if f, err := s.First([]string{"node_modules/a/nowhere.js",
		"node_modules/a/package.json"}); err != nil || f.Path != "node_modules/a/package.json" {
		t.Fatal(f, err)
	}
	if f, err := s.First([]string{"node_modules/b/x.js"}); err != nil || f.Text != "b" {
		t.Error(f, err)
	}
	refuses(
		"secret.js", "/etc/passwd", "../x", "node_modules/../secret.js", "node_modules/a/../../secret.js",
		"node_modules/a/../b/x.js", "node_modules/a", "node_modules/a/",
		"node_modules", "node_modules/x.js", "node_modules/.package-lock.json", "node_modules/c/x.js",
		"node_modules/a/node_modules/c/x.js", "node_modules//a/x.js",
		"./node_modules/a/x.js", "node_modules/a/./x.js", `node_modules/a\x.js`, "", ".", "node_modules/a/x.js/",
		"NODE_MODULES/a/x.js",
	)
	if _, err := s.First(make([]string, maxPaths+1)); err == nil {
		t.Error("the number of requested paths is not limited")
	}
	short := newSnapshot(root, []string{"a"}, 1, 1<<20)
	_, first := short.First([]string{"node_modules/a/x.js"})
	if _, err := short.First([]string{"node_modules/a/x.js"}); first != nil || err == nil ||
		err.Error() != "the packages have more files or bytes than a program may import; import fewer packages" {
		t.Errorf("got %v, %v", first, err)
	}
}

// TestSnapshotIsBounded requests many missing files and reads a package with too many
// dependencies. The memory that the host needs for them must be bounded.
func TestSnapshotIsBounded(t *testing.T) {
	t.Parallel()
	var dependencies strings.Builder
	for i := range maxAllowed + 10 {
		fmt.Fprintf(&dependencies, `"p%d":"1",`, i)
	}
	long := "node_modules/a/" + strings.Repeat("x/", maxPath/2) + "y.js"
	s := newSnapshot(fstest.MapFS{
		"a/package.json": {Data: []byte(`{"dependencies":{` + dependencies.String() + `"last":"1"}}`)},
		inRoot(long):     {Data: []byte("1")},
	}, []string{"a"}, 100, 1<<20)
	for i := range 1000 {
		if f, err := s.First([]string{fmt.Sprintf("node_modules/a/%d/x.js", i), long}); err != nil || f.Path != "" {
			t.Fatal(f.Path, err)
		}
	}
	if _, err := s.First([]string{"node_modules/a/package.json"}); err != nil {
		t.Fatal(err)
	}
	if len(s.folders) != 1 || len(s.allowed) != maxAllowed {
		t.Errorf("it remembers %d folders and %d packages", len(s.folders), len(s.allowed))
	}
}
