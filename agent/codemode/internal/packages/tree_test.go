package packages_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

func TestFS(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{})
	env, _ := f.environment(packages.Limits{})
	if err := fstest.TestFS(tree(t, env)); err != nil {
		t.Error(err)
	}
	mustInstall(t, env, "a@1", "@s/b@2")
	files := []string{"a/package.json", "@s/b/package.json"}
	first := tree(t, env)
	if err := fstest.TestFS(first, files...); err != nil {
		t.Error(err)
	}
	mustInstall(t, env, "c@1", "a@2")
	want := `{"name":"a","version":"1"}`
	if got, err := fs.ReadFile(first, files[0]); err != nil || string(got) != want {
		t.Errorf("after an installation, a is %s, %v", got, err)
	}
	if err := fstest.TestFS(tree(t, env), append(files, "c/package.json")...); err != nil {
		t.Error(err)
	}
}

func tree(t *testing.T, env *packages.Environment) fs.FS {
	t.Helper()
	root, err := env.FS()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestNothingEscapes(t *testing.T) {
	t.Parallel()
	dir := byHand(t)
	write(t, filepath.Join(dir, "secret"), "planted")
	out := filepath.Join(t.TempDir(), "out")
	write(t, out, "planted")
	modules := filepath.Join(dir, "node_modules")
	for name, target := range map[string]string{
		"beside": "../secret", "absolute": out, "folder": "..", "inside": "plain/package.json", "plain/up": "../../secret",
		"chain": "folder/secret",
	} {
		if err := os.Symlink(target, filepath.Join(modules, name)); err != nil {
			t.Fatal(err)
		}
	}
	env, err := packages.New(dir, packages.Options{})
	if err != nil {
		t.Fatal(err)
	}
	root := tree(t, env)
	for _, name := range []string{
		"secret", "package.json", "beside", "absolute", "folder/secret", "plain/up", "chain",
		"../secret", "../package.json", "/etc/passwd", "../x", "",
	} {
		if text, err := fs.ReadFile(root, name); err == nil {
			t.Errorf("%q can be read: %s", name, text)
		}
	}
	if _, err := fs.ReadFile(root, "inside"); err != nil {
		t.Errorf("a link that stays inside: %v", err)
	}
}

// TestNodeModulesIsALink replaces node_modules with a link to another folder.
func TestNodeModulesIsALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(byHand(t), "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	env := newFake(t, plan{}).open(dir, packages.Limits{})
	if _, err := env.FS(); err == nil {
		t.Errorf("got %v", err)
	}
	if _, err := env.Install(t.Context(), []string{"a"}); err == nil {
		t.Error("the link was followed")
	}
}

func TestAllowedDependenciesAreNotImportable(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{})
	env, dir := f.environment(packages.Limits{})
	mustInstall(t, env, "a@1")
	folders, err := filepath.Glob(filepath.Join(dir, "packages-*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	write(t, filepath.Join(folders[0], "node_modules/hoisted/package.json"), `{"name":"hoisted","version":"1.0.0"}`)
	importable(t, env, "a")
}
