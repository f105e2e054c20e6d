package packages_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

func TestHostileSpecsStartNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{})
	env, dir := f.environment(packages.Limits{})
	before := snapshot(t, dir)
	for _, spec := range hostile {
		for _, specs := range [][]string{{spec}, {"lodash-es", spec}, {spec, "lodash-es"}} {
			if report, err := env.Install(t.Context(), specs); err == nil {
				t.Errorf("Install(%q) = %+v", specs, report)
			}
		}
		if found, err := env.Installed(t.Context(), spec); err == nil {
			t.Errorf("Installed(%q) = %+v", spec, found)
		}
	}
	if starts := f.starts(); len(starts) != 0 {
		t.Errorf("npm was started: %q", starts)
	}
	compareFiles(t, snapshot(t, dir), before)
}

func TestNpmIsStartedWith(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_SECRET_ACCESS_KEY": "planted", "NPM_TOKEN": "planted", "npm_config_registry": "http://planted",
		"NPM_CONFIG_SCRIPT_SHELL":   "planted",
		"npm_config_ignore_scripts": "false", "NODE_OPTIONS": "--require=planted", "NODE_AUTH_TOKEN": "planted",
		"SSH_AUTH_SOCK": "planted",
		"HTTPS_PROXY":   "http://user:planted@proxy", "LD_LIBRARY_PATH": "planted", "GIT_SSH_COMMAND": "planted",
		"HOME":                "/planted",
		"SYSTEMROOT":          "planted", // only on Windows does npm inherit it
		"NODE_EXTRA_CA_CERTS": "/certificates", "CHOSEN": "value", "PATH": ".:relative:/bin:/usr/bin",
	} {
		t.Setenv(name, value)
	}
	f := newFake(t, plan{})
	env, dir := f.environment(packages.Limits{Env: []string{"CHOSEN", "NOT_SET"}})
	if _, err := env.Install(t.Context(), []string{"lodash-es@^4", "@scope/name"}); err != nil {
		t.Fatal(err)
	}
	starts := f.starts()
	if len(starts) != 1 {
		t.Fatalf("npm was started %d times", len(starts))
	}
	got := starts[0]
	names := regexp.MustCompile(`(home|packages)-[0-9]+`)
	short := func(s string) string { return names.ReplaceAllString(strings.ReplaceAll(s, dir, "DIR"), "$1-N") }
	for i := range got.Args {
		got.Args[i] = short(got.Args[i])
	}
	wantArgs := []string{
		"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--omit=dev",
		"--no-progress", "--no-update-notifier", "--color=false", "--logs-max=0",
		"--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000",
		"--prefix=DIR/packages-N", "--cache=DIR/home-N/cache", "--userconfig=DIR/home-N/userconfig",
		"--globalconfig=DIR/home-N/globalconfig",
		"--allow-git=none", "--allow-remote=none", "--allow-file=none", "--allow-directory=none", "--git=DIR/home-N/no-git",
		"--", "lodash-es@^4", "@scope/name",
	}
	if !slices.Equal(got.Args, wantArgs) {
		t.Errorf("the arguments are\n%q\nwant\n%q", got.Args, wantArgs)
	}
	for i := range got.Env {
		got.Env[i] = short(got.Env[i])
	}
	slices.Sort(got.Env)
	wantEnv := []string{
		"CHOSEN=value", "HOME=DIR/home-N", "NODE_EXTRA_CA_CERTS=/certificates", "PATH=/bin:/usr/bin",
		"TEMP=DIR/home-N/tmp", "TMP=DIR/home-N/tmp", "TMPDIR=DIR/home-N/tmp", "USERPROFILE=DIR/home-N",
	}
	if !slices.Equal(got.Env, wantEnv) {
		t.Errorf("the environment is\n%q\nwant\n%q", got.Env, wantEnv)
	}
	if got.Dir = short(got.Dir); got.Dir != "DIR/packages-N" {
		t.Errorf("npm was started in %s", got.Dir)
	}
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{})
	env, _ := f.environment(packages.Limits{Allow: []string{"lodash-es", "date-*", "@scope/*"}})
	_, err := env.Install(t.Context(), []string{"lodash", "date-fns", "@other/x@1", "@scope/x", "$(id)"})
	const list = "not on the list of allowed packages: lodash-es, date-*, @scope/*"
	want := `package "lodash": ` + list + "\n" + `package "@other/x@1": ` + list + "\n" +
		`package "$(id)": must be the name of a package in the registry: name or @scope/name, of a-z, 0-9, . _ and -, ` +
		`beginning with a letter or digit`
	wantError(t, err, want)
	if _, err := env.Install(t.Context(), []string{"lodash-es", "date-fns@3", "@scope/x"}); err != nil {
		t.Error(err)
	}
	none := f.open(t.TempDir(), packages.Limits{Allow: []string{}})
	_, err = none.Install(t.Context(), []string{"a"})
	wantError(t, err, `package "a": no package is allowed here`)
}

func TestTooManySpecs(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{})
	env, _ := f.environment(packages.Limits{})
	for want, specs := range map[string][]string{
		`packages: name at least one package`:                          {},
		`packages: 65 packages are too many; the limit per call is 64`: slices.Repeat([]string{"a"}, 65),
		`package "a@2": the package is listed twice`:                   {"a@1", "a@2"},
	} {
		_, err := env.Install(t.Context(), specs)
		wantError(t, err, want)
	}
}

func TestNoNpm(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	dir := t.TempDir()
	env := limited(t, dir, packages.Limits{Allow: []string{"*"}, Npm: missing})
	_, err := env.Install(t.Context(), []string{"a"})
	want := `packages: npm was not found; install Node.js, which includes it: exec: "` + missing +
		`": stat ` + missing + `: no such file or directory`
	wantError(t, err, want)
	if left := snapshot(t, dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOutputIsStripped(t *testing.T) {
	t.Setenv("PROXY_FOR_NPM", "http://someone:secret@proxy.example:1")
	f := newFake(t, plan{Exit: 1, Say: strings.Join([]string{
		"noise " + strings.Repeat("x", 9000),
		"at Object.<anonymous> (/usr/lib/node_modules/npm/x.js:1:2)",
		"open '/etc/passwd' file:///home/x /srv C:\\Users\\me",
		"proxy http://someone:secret@proxy.example:1 and https://me:pass@host/x",
		"GET https://packages.example/a - 404, also @scope/name",
		"log in $HOME/.npm/_logs\x1b[31m red\x1b[0m\x07",
	}, "\n")})
	env, _ := f.environment(packages.Limits{Env: []string{"PROXY_FOR_NPM"}})
	_, err := env.Install(t.Context(), []string{"a"})
	want := `packages: nothing was changed: exit status 1. npm's last lines:
at Object.<anonymous> ([path]:1:2)
open '[path]' file://[path] [path] [path]
proxy [PROXY_FOR_NPM] and https://[user]@host/x
GET https://packages.example/a - 404, also @scope/name
log in ~/.npm/_logs red\u0007`
	wantError(t, err, want)
}

func compareFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if now, ok := got[name]; !ok || now != text {
			t.Errorf("%s was %q and is %q", name, text, now)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is new", name)
		}
	}
}
