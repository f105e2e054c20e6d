package codemode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// furnish puts a package into an environment, as npm would have done.
func furnish(t *testing.T, a served, environment string) {
	t.Helper()
	e, err := a.store.Space(local.Name).Environment(t.Context(), environment)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"package.json": `{"dependencies": {"tiny": "1.2.3"}}`,
		"node_modules/.package-lock.json": `{"packages": {"node_modules/tiny": {"version": "1.2.3", "resolved": ` +
			`"https://packages.example/tiny/-/tiny-1.2.3.tgz"}}}`,
		"node_modules/tiny/package.json":       `{"name": "tiny", "version": "1.2.3", "type": "module", "main": "index.js"}`,
		"node_modules/tiny/index.js":           `export const twice = n => 2 * n;`,
		"node_modules/undeclared/package.json": `{"name": "undeclared", "version": "1.0.0"}`,
	} {
		path := filepath.Join(e.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	session, a := begin(t, setup{Options: Options{Packages: []string{"tiny", "undeclared"}}})
	made := get[configuration](t, session, "configure_environment",
		map[string]any{"environment": "lab", "description": "for numbers"})
	if made.Environment != "lab" || made.Description != "for numbers" || made.CanInstall ||
		!slices.Equal(made.Allowed, []string{"tiny", "undeclared"}) {
		t.Errorf("got %+v", made)
	}
	furnish(t, a, "lab")
	packages := get[installed](t, session, "check_installed_packages",
		map[string]any{"environment": "lab", "packages": []string{"tiny", "absent"}})
	if packages.AllInstalled || !slices.Equal(packages.NotInstalled, []string{"absent"}) ||
		packages.PackageDetails["tiny"].Version != "1.2.3" || !packages.PackageDetails["tiny"].Importable {
		t.Errorf("got %+v", packages)
	}
	if got := get[configuration](t, session, "get_environment_config",
		map[string]any{"environment": "lab"}); len(got.Imports) > 0 || !slices.Equal(got.Importable, []string{"tiny"}) ||
		!slices.Equal(got.Environments, []string{"default", "lab"}) {
		t.Errorf("got %+v", got)
	}
	e := get[execution](t, session, "execute_code",
		map[string]any{"environment": "lab", "code": `import {twice} from "tiny"; const n: number = 21; twice(n)`})
	if string(e.Result) != "42" {
		t.Errorf("got %+v", e)
	}
	file := get[codeFile](t, session, "initialize_code_file",
		map[string]any{"filename": "n.ts", "content": "const n: number = 6;\nn * 7"})
	if e := get[execution](t, session, "execute_code_file",
		map[string]any{"file_path": file.FilePath}); string(e.Result) != "42" {
		t.Errorf("TypeScript in a file: %+v", e)
	}
	args := map[string]any{"environment": "lab", "code": `import x from "undeclared"; x`}
	if e := executeCode(t, session, args); e.Success {
		t.Errorf("got %+v", e)
	}
	if e := executeCode(t, session, map[string]any{"environment": "none", "code": `1`}); e.ErrorType != "NOT_FOUND" {
		t.Errorf("got %+v", e)
	}
}

// TestTypeScriptErrors points at the lines that the model wrote.
func TestTypeScriptErrors(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{})
	e := executeCode(t, session, map[string]any{"language": "typescript",
		"code": "interface A { b: number }\nconst a: A = {b: 1};\n\nthrow new Error('here ' + a.b);"})
	if e.ErrorType != "THROWN" || e.Diagnostics[0].Line != 4 || e.Diagnostics[0].Message != "Error: here 1" {
		t.Errorf("got %+v", e)
	}
}

// TestInstallOff is what there is without -packages, and without -allow-install.
func TestInstallOff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options Options
		want    []string
	}{
		{Options{}, nil},
		{Options{Packages: []string{"zod"}}, []string{"check_installed_packages", "configure_environment",
			"get_environment_config"}},
		{Options{Packages: []string{"zod"}, AllowInstall: true}, []string{"check_installed_packages", "configure_environment",
			"get_environment_config", "install_dependencies"}},
	} {
		session, _ := begin(t, setup{Options: test.options})
		names := slices.DeleteFunc(toolNames(t, session), func(name string) bool {
			return !strings.Contains(name, "environment") && !strings.Contains(name, "install")
		})
		if !slices.Equal(names, test.want) {
			t.Errorf("%+v offers %q, want %q", test.options, names, test.want)
		}
	}
}

// TestBadPackages are refused before npm is started.
func TestBadPackages(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{Options: Options{Packages: []string{"zod"}, AllowInstall: true}})
	for _, name := range []string{"lodash", "zod; touch /tmp/x", "--registry=http://evil", "git+ssh://x/y", "../zod",
		"zod@file:/etc", "", "$(id)", "zod@npm:evil"} {
		text, failed := ask(t, session, "install_dependencies", map[string]any{"packages": []string{name}})
		if !failed || strings.Contains(string(text), "npm's last lines") {
			t.Errorf("%q: %s", name, text)
		}
	}
}
