//go:build integration

package packages_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

// host lists the variables that may be needed to reach the registry.
var host = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"npm_config_registry"}

// TestRealPackages installs packages that programs are likely to use, from the registry and
// with the real npm.
func TestRealPackages(t *testing.T) {
	t.Parallel()
	names := []string{"date-fns", "lodash-es", "marked", "papaparse", "yaml", "zod"}
	env := limited(t, t.TempDir(), packages.Limits{Allow: names, Env: host})
	first, err := env.Install(t.Context(), []string{"date-fns@^4", "lodash-es@4.17.21", "marked", "papaparse@latest",
		"yaml@2.x"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := env.Install(t.Context(), []string{"zod@>=4", "lodash-es@latest"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d packages, %d bytes, in %v and %v", second.Packages, second.Bytes, first.Duration, second.Duration)
	if len(first.Added) < 5 || len(second.Added) != 1 || len(second.Updated) != 1 ||
		second.Updated[0].Previous != "4.17.21" {
		t.Errorf("got %+v, then %+v", first, second)
	}
	if got, err := env.Importable(); err != nil || !slices.Equal(got, names) {
		t.Errorf("importable are %v, %v", got, err)
	}
	installed, err := env.Installed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range installed {
		if !p.Installed || !p.Importable || p.Version == "" || p.Description == "" || p.Problem != "" {
			t.Errorf("got %+v", p)
		}
	}
	if text, err := fs.ReadFile(tree(t, env), "lodash-es/chunk.js"); err != nil ||
		!strings.Contains(string(text), "export default chunk") {
		t.Errorf("lodash-es/chunk.js is %q, %v", text, err)
	}
	_, err = env.Install(t.Context(), []string{"zod@99999.0.0"})
	if failed := (*packages.Error)(nil); !errors.As(err, &failed) || !strings.Contains(failed.Output, "ETARGET") {
		t.Errorf("got %v", err)
	}
	if got, err := env.Importable(); err != nil || !slices.Equal(got, names) {
		t.Errorf("importable are %v, %v", got, err)
	}
}

// registry serves hostile packages, each with scripts that would write a file.
type registry struct {
	*httptest.Server
	dir   string // a folder in which nothing may be written
	calls chan string
}

// depends returns the dependencies of a package.
func (r *registry) depends(name string) map[string]string {
	return map[string]map[string]string{
		"git":    {"x": "git+file://" + r.dir},
		"remote": {"y": r.URL + "/y/-/y-1.0.0.tgz"},
		"file":   {"x": "file:/etc"},
		"alias":  {"harmless": "npm:x@1.0.0"},
		"parent": {"x": "1.0.0"},
	}[name]
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{dir: t.TempDir(), calls: make(chan string, 1000)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.calls <- q.URL.Path + " " + q.Header.Get("Authorization")
	name, _, tarball := strings.Cut(strings.Trim(q.URL.Path, "/"), "/-/")
	data := r.tarball(name)
	if tarball {
		_, _ = w.Write(data)
		return
	}
	sum := sha512.Sum512(data)
	manifest := r.manifest(name)
	manifest["dist"] = map[string]any{
		"tarball":   r.URL + "/" + name + "/-/" + name + "-1.0.0.tgz",
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"name": name, "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": manifest},
	})
}

func (r *registry) manifest(name string) map[string]any {
	scripts := map[string]string{}
	for _, stage := range []string{"preinstall", "install", "postinstall", "prepare", "preprepare", "preuninstall",
		"uninstall", "postuninstall"} {
		scripts[stage] = "echo ran > " + filepath.Join(r.dir, stage)
	}
	manifest := map[string]any{
		"name": name, "version": "1.0.0", "scripts": scripts, "dependencies": r.depends(name), "hasInstallScript": true,
	}
	if name == "evil" { // npm downloads packages again if the links to their commands are missing
		manifest["bin"] = map[string]string{name: "index.js", "node": "index.js"}
	}
	return manifest
}

// tarball returns a package with scripts, an .npmrc, and files that would escape its folder.
func (r *registry) tarball(name string) []byte {
	manifest, _ := json.Marshal(r.manifest(name))
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	files := tar.NewWriter(packed)
	for _, file := range [][2]string{
		{"package.json", string(manifest)},
		{"index.js", "export default 1"},
		{"binding.gyp", "{}"},
		{".npmrc", "ignore-scripts=false\ngit=/bin/touch"},
		{"../../escaped", "planted"},
		{"../../../escaped", "planted"},
	} {
		_ = files.WriteHeader(&tar.Header{Name: "package/" + file[0], Mode: 0o777, Size: int64(len(file[1]))})
		_, _ = files.Write([]byte(file[1]))
	}
	_ = files.WriteHeader(&tar.Header{Name: "package/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	_ = files.Close()
	_ = packed.Close()
	return out.Bytes()
}

// TestHostilePackages installs packages whose scripts would write a file, on a host
// whose own configuration enables scripts.
func TestHostilePackages(t *testing.T) {
	r := newRegistry(t)
	home, dir := t.TempDir(), t.TempDir()
	hostile := "ignore-scripts=false\nregistry=http://127.0.0.1:1/\nscript-shell=/bin/sh\n//" +
		strings.TrimPrefix(r.URL, "http://") + "/:_authToken=planted\n"
	write(t, filepath.Join(home, ".npmrc"), hostile)
	write(t, filepath.Join(dir, ".npmrc"), hostile)
	for name, value := range map[string]string{
		"HOME": home, "npm_config_registry": r.URL, "npm_config_ignore_scripts": "false",
		"NPM_CONFIG_USERCONFIG": filepath.Join(home, ".npmrc"),
	} {
		t.Setenv(name, value)
	}
	env := limited(t, dir, packages.Limits{Allow: []string{"*"}, Env: []string{"npm_config_registry"}})
	report, err := env.Install(t.Context(), []string{"evil", "parent@1.0.0", "alias@1"})
	if err != nil {
		t.Fatal(err)
	}
	if report.Packages != 5 {
		t.Errorf("got %+v", report)
	}
	for _, name := range []string{"git", "remote", "file"} {
		if report, err := env.Install(t.Context(), []string{name}); err == nil {
			t.Errorf("a dependency by %s was installed: %+v", name, report)
		} else if refused := (*packages.Error)(nil); !errors.As(err, &refused) {
			t.Errorf("got %v", err)
		}
	}
	r.called()
	if _, err := env.Install(t.Context(), []string{"more"}); err != nil {
		t.Error(err)
	}
	calls := strings.ReplaceAll(r.called(), "/evil/-/evil-1.0.0.tgz", "") // its commands have no links
	if strings.Count(calls, ".tgz") != 1 || !strings.Contains(calls, "/more/-/more-1.0.0.tgz") {
		t.Errorf("an installed package was downloaded again: %s", calls)
	}
	if ran := snapshot(t, r.dir); len(ran) != 1 {
		t.Errorf("scripts ran: %v", ran)
	}
	if calls := r.called(); strings.Contains(calls, "planted") {
		t.Errorf("a token of the host was sent: %s", calls)
	}
	for name := range snapshot(t, dir) {
		if base := path.Base(name); base == "escaped" || base == "link" || path.Base(path.Dir(name)) == ".bin" {
			t.Errorf("%s was made", name)
		}
	}
	if _, err := os.Stat(filepath.Join(home, ".npm")); err == nil {
		t.Error("the host's cache was used")
	}
	importable(t, env, "alias", "evil", "more", "parent")
	r.actsOnOthers(t)
}

// called returns the requests since its last call.
func (r *registry) called() string {
	var calls []string
	for len(r.calls) > 0 {
		calls = append(calls, <-r.calls)
	}
	return strings.Join(calls, "\n")
}

// actsOnOthers checks that plain npm would run the scripts and send the token.
func (r *registry) actsOnOthers(t *testing.T) {
	t.Helper()
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "evil")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "postinstall")); err != nil {
		t.Errorf("plain npm does not run the scripts either: %v", err)
	}
	if !strings.Contains(r.called(), "planted") {
		t.Error("plain npm does not send the token either")
	}
}
