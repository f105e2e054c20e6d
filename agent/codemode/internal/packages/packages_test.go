package packages_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

// byHand returns a folder with packages of every kind.
func byHand(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"dependencies":{"plain":"1","typed":"1","exported":"1","declared":"1","broken":"1","large":"1",
			"odd":"1","alias":"npm:evil","absent":"1","@s/n":"1","../../etc":"1","Upper":"1"},"devDependencies":{"dev":"1"}}`,
		"node_modules/plain/package.json": `{"name":"plain","version":"1.0.0","description":"A  ` +
			`plain\n\u001b[31mpackage\u0007 ` + strings.Repeat("ä", 200) + `"}`,
		"node_modules/typed/package.json":    `{"name":"typed","version":"1.0.0","types":"./x.d.ts"}`,
		"node_modules/exported/package.json": `{"name":"exported","version":"1.0.0","exports":{".":{"types":"./x.d.ts"}}}`,
		"node_modules/declared/package.json": `{"name":"declared","version":"1.0.0"}`,
		"node_modules/declared/index.d.ts":   `export {}`,
		"node_modules/broken/package.json":   `{"name":`,
		"node_modules/large/package.json":    `"` + strings.Repeat("x", 1<<20) + `"`,
		"node_modules/odd/package.json":      `{"name":"odd","version":1,"description":["x"],"types":{}}`,
		"node_modules/alias/package.json":    `{"name":"evil","version":"6.6.6"}`,
		"node_modules/@s/n/package.json":     `{"name":"@s/n","version":"1.0.0"}`,
		"node_modules/below/package.json":    `{"name":"below","version":"1.0.0"}`,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func TestInstalled(t *testing.T) {
	t.Parallel()
	env := limited(t, byHand(t), packages.Limits{Allow: []string{"*"}})
	plain := packages.Package{
		Name: "plain", Installed: true, Version: "1.0.0", Direct: true, Importable: true,
		Description: `A plain package\u0007 ` + strings.Repeat("ä", 137) + "…",
	}
	want := []packages.Package{
		{Name: "@s/n", Installed: true, Version: "1.0.0", Direct: true},
		{Name: "absent"},
		{Name: "alias", Installed: true, Version: "6.6.6", Direct: true, Importable: true,
			Problem: `the package that is installed under this name is called "evil"`},
		{Name: "broken", Installed: true, Direct: true, Importable: true,
			Problem: "its package.json cannot be read: unexpected end of JSON input"},
		{Name: "declared", Installed: true, Version: "1.0.0", Direct: true, Importable: true, Types: true},
		{Name: "exported", Installed: true, Version: "1.0.0", Direct: true, Importable: true, Types: true},
		{Name: "large", Installed: true, Direct: true, Importable: true,
			Problem: "its package.json cannot be read: it is longer than 1048576 bytes"},
		{Name: "odd", Installed: true, Direct: true, Importable: true},
		plain,
		{Name: "typed", Installed: true, Version: "1.0.0", Direct: true, Importable: true, Types: true},
	}
	got, err := env.Installed(t.Context())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	got, err = env.Installed(t.Context(), "nothing", "below", "plain")
	want = []packages.Package{{Name: "nothing"}, {Name: "below", Installed: true, Version: "1.0.0"}, plain}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	if _, err := env.Installed(t.Context(), "plain", "../plain", "-g"); err == nil || strings.Count(err.Error(),
		"must be the name of a package in the registry") != 2 {
		t.Errorf("got %v", err)
	}
}

func TestEmptyEnvironment(t *testing.T) {
	t.Parallel()
	env, err := packages.New(filepath.Join(t.TempDir(), "new"), packages.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := env.Installed(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("got %v, %v", found, err)
	}
	if names, err := env.Importable(); err != nil || names == nil || len(names) != 0 {
		t.Errorf("got %v, %v", names, err)
	}
	if s, err := env.Settings(); err != nil || !reflect.DeepEqual(s, packages.Settings{}) {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	dir := byHand(t)
	o := packages.Limits{Allow: []string{"plain", "typed", "later"}}
	env := limited(t, dir, o)
	importable(t, env, "plain", "typed")
	want := packages.Settings{Description: "for reports", Imports: []string{"typed", "later"}}
	if err := env.Configure(want); err != nil {
		t.Fatal(err)
	}
	again := limited(t, dir, o)
	if got, err := again.Settings(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	importable(t, again, "typed")
	err := env.Configure(packages.Settings{Description: strings.Repeat("x", 2001), Imports: []string{"typed",
		"odd", "../x"}})
	const wrong = "packages: the description has 2001 bytes; the limit is 2000\n" +
		`package "odd": not on the list of allowed packages: plain, typed, later` + "\n" +
		`package "../x": must be the name of a package in the registry: name or @scope/name, of a-z, 0-9, . _ and -, ` +
		`beginning with a letter or digit`
	wantError(t, err, wrong)
	if got, err := env.Settings(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("after refused settings, the settings are %+v, %v", got, err)
	}
}

// TestDamaged damages the environment's own files, which must result in an error.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"no JSON": {"environment.json", "{",
			"packages: environment.json of the environment is unusable; remove the file to start over: unexpected end of JSON input"},
		"a path": {"environment.json", `{"current":"packages-/../../x"}`,
			"packages: environment.json of the environment is unusable; remove the file to start over: it names a folder that " +
				"this package did not create"},
		"another": {"environment.json", `{"current":".."}`,
			"packages: environment.json of the environment is unusable; remove the file to start over: it names a folder that " +
				"this package did not create"},
		"project": {"package.json", `[]`,
			"packages: reading an environment: package.json: json: cannot unmarshal array into Go value of type struct { " +
				"Dependencies map[string]string \"json:\\\"dependencies\\\"\"; Optional map[string]string " +
				"\"json:\\\"optionalDependencies\\\"\" }"},
		"setting": {"settings.json", `{"imports":1}`,
			"packages: reading the settings of an environment: settings.json: json: cannot unmarshal number into Go struct " +
				"field Settings.imports of type []string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, c.file), c.text)
			env := newFake(t, plan{}).open(dir, packages.Limits{})
			if names, err := env.Importable(); err == nil || err.Error() != c.want {
				t.Errorf("got %v, %v\nwant %s", names, err, c.want)
			}
		})
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{Exit: 1})
	env, _ := f.environment(packages.Limits{})
	_, refused := env.Install(t.Context(), []string{"-g"})
	_, failed := env.Install(t.Context(), []string{"a"})
	spec, ran := (*packages.SpecError)(nil), (*packages.Error)(nil)
	if !errors.As(refused, &spec) || spec.Spec != "-g" {
		t.Errorf("got %v", refused)
	}
	if !errors.As(failed, &ran) || ran.Err.Error() != "exit status 1" {
		t.Errorf("got %v", failed)
	}
}

// TestRemovedMeanwhile opens an environment whose parent folder has just been removed. It must
// not be created again.
func TestRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "removed")
	if _, err := packages.New(filepath.Join(parent, "packages"), packages.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(parent); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the parent folder was created again (%v)", err)
	}
}

// TestManyNames passes too many names to one call.
func TestManyNames(t *testing.T) {
	t.Parallel()
	e, err := packages.New(t.TempDir(), packages.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Installed(t.Context(), slices.Repeat([]string{"x"}, 65)...)
	want := `packages: 65 packages are too many; the limit per call is 64`
	if spec := (*packages.SpecError)(nil); !errors.As(err, &spec) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
