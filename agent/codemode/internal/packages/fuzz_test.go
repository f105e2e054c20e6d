package packages

import (
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

func FuzzListing(f *testing.F) {
	f.Add(`{"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://r/a.tgz"}}}`, `{"dependencies":{"a":"1"}}`)
	f.Add(`{"packages":{"":{},"a/node_modules/":{"link":true},"node_modules/@s/b":{"inBundle":true}}}`,
		`{"optionalDependencies":{"@s/b":"*"}}`)
	f.Add(`{"packages":{"node_modules/a":{"resolved":"git+ssh://h/x","dependencies":{"x":"a/b"}}}}`, `[]`)
	f.Fuzz(func(t *testing.T, lock, project string) {
		l, err := readListing(fstest.MapFS{
			modules + "/" + record: {Data: []byte(lock)},
			"package.json":         {Data: []byte(project)},
		})
		if err != nil {
			return
		}
		if err := l.check(1000); err == nil {
			for where, p := range l.packages {
				if p.Link || strings.HasPrefix(p.Resolved, "git") || strings.HasPrefix(p.Resolved, "file") {
					t.Errorf("%s from %q passes", where, p.Resolved)
				}
			}
		}
		none := &listing{}
		added, removed := none.compare(l), l.compare(none)
		if len(added.Added) != len(l.packages) || len(removed.Removed) != len(l.packages) {
			t.Errorf("of %d packages, %d were added and %d removed", len(l.packages), len(added.Added), len(removed.Removed))
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add(`{"name":"a","version":"1.0.0","description":"x","types":"x.d.ts","exports":{"types":1}}`)
	f.Add(`{"name":{},"version":[],"description":"` + strings.Repeat("ä", 400) + `","exports":null}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		p := describe(fstest.MapFS{"node_modules/a/package.json": {Data: []byte(text)}}, "a")
		if p.Name != "a" || !p.Installed || p.Version == "" && p.Description != "" && len(p.Description) > maxDescription+
			len("…") {
			t.Errorf("got %+v", p)
		}
		for _, s := range []string{p.Version, p.Description} {
			if len(s) > maxDescription+len("…") || strings.ContainsAny(s, "\x00\x1b\n\r") || !utf8.ValidString(s) {
				t.Errorf("%q is shown", s)
			}
		}
	})
}

func FuzzStrip(f *testing.F) {
	f.Add("at Object (/usr/lib/x.js:1:2)")
	f.Add("https://me:word@host/x file:///root \x1b[31m'/etc'")
	e := &Environment{}
	f.Fuzz(func(t *testing.T, text string) {
		const dir, home = "/planted/packages-1", "/planted/home-1"
		got := e.strip(text+" "+dir+"/x "+home+"/y (/planted/z) https://me:planted@host/x", dir, home)
		if strings.Contains(got, "planted") && !strings.Contains(text, "planted") {
			t.Errorf("%q", got)
		}
		if strings.ContainsAny(got, "\x00\x1b\x07") {
			t.Errorf("%q has control characters", got)
		}
	})
}
