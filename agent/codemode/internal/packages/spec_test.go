package packages_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

func TestParseSpec(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 214)
	for text, want := range map[string]packages.Spec{
		"lodash-es":          {Name: "lodash-es"},
		"lodash-es@4.17.21":  {Name: "lodash-es", Version: "4.17.21"},
		"lodash.merge@^4":    {Name: "lodash.merge", Version: "^4"},
		"zod@latest":         {Name: "zod", Version: "latest"},
		"yaml@>=2":           {Name: "yaml", Version: ">=2"},
		"yaml@2.x":           {Name: "yaml", Version: "2.x"},
		"yaml@*":             {Name: "yaml", Version: "*"},
		"a@1.0.0-beta.2+b_1": {Name: "a", Version: "1.0.0-beta.2+b_1"},
		"@scope/name":        {Name: "@scope/name"},
		"@scope/name@~1.2":   {Name: "@scope/name", Version: "~1.2"},
		"events":             {Name: "events"},
		"7zip":               {Name: "7zip"},
		long:                 {Name: long},
	} {
		got, err := packages.ParseSpec(text)
		if err != nil || got != want {
			t.Errorf("ParseSpec(%q) = %+v, %v; want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%q is written %q", text, got)
		}
	}
}

// hostile contains specs that must never reach npm or have any effect.
var hostile = []string{
	"", " ", "-g", "--prefix=/", "--", "-", "@", "@@", "@/", "@a", "@a/", "@/b", "@a/b/c", "a@", "a@@1", "@a/b@",
	"lodash; touch X", "lodash;touch X", "lodash && touch X", "lodash|touch X", "lodash&", "lodash\ttouch", "lodash touch",
	"$(touch X)", "`touch X`", "${HOME}", "$HOME", "lodash@$(id)", "lodash@`id`", "lodash@1;id", "lodash@1 || id",
	"lodash@^1 --global",
	"lodash\n", "lodash\ntouch X", "lodash@1\n", "lodash\x00", "lodash\x00-g", "lodash@1\x00", "\x00", "lodash\r",
	"../x", "./x", ".", "..", "/etc/passwd", "~/x", "~", "C:\\x", "c:x", "\\\\host\\share", "a/b", "a\\b", "@a/../b",
	"@../a", "@a/..", "@.a/b",
	"file:/etc", "file:../x", "lodash@file:/etc", "lodash@/etc", "lodash@./x", "lodash@../x", "lodash@~/x", "link:../x",
	"workspace:*", "lodash@workspace:*",
	"lodash@npm:evil", "npm:evil", "lodash@npm:@a/b@1", "alias@npm:evil@1",
	"git+ssh://git@host/x.git", "git://host/x", "git@host:x/y.git", "github:x/y", "x/y", "x/y#main", "lodash@github:x/y",
	"lodash@x/y", "lodash@git+https://host/x",
	"http://host/x.tgz", "https://host/x.tgz", "lodash@https://host/x.tgz", "lodash@http:x", "gist:1234",
	"x.tgz", "x.tar", "x.tar.gz", "X.TGZ", "lodash@x.tgz", "lodash@1.tar.gz", "lodash@a.TAR",
	".hidden", "_private", "-x", "lodash@-g", "lodash@--x", "lodash@.x", "lodash@_x",
	"Lodash", "LODASH", "löd", "lo\u200bdash", "lodash\u202e", "ｌodash", "\xff", "a\xc3\x28", "lodash@１",
	"a%2fb", "a%00", "a~b", "a'b", "a!b", "a(b)", "a*b", "*", "a?b", "a#b", "a=b", "a:b", "a,b", "a\"b", "{a,b}", "[a]",
	"!a", "<a", "a>b", "^a",
	"lodash@1 2", "lodash@'1'", "lodash@\"1\"", "lodash@1,2", "lodash@{1,2}", "lodash@>x<y", "lodash@1@2", "lodash@<",
	"lodash@^", "lodash@%2f", "lodash@!1", "lodash@1?",
	"node_modules", "favicon.ico", strings.Repeat("a", 215), "@a/" + strings.Repeat("b",
		212), "a@" + strings.Repeat("1", 65), strings.Repeat("a", 1<<20),
}

func TestParseSpecRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		got, err := packages.ParseSpec(text)
		if err == nil {
			t.Errorf("ParseSpec(%q) = %+v", text, got)
			continue
		}
		if message := err.Error(); len(message) > 1000 || strings.ContainsFunc(message,
			func(r rune) bool { return r < ' ' }) {
			t.Errorf("the message about %q is %q", text, message)
		}
	}
}

func TestSpecErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"lodash; touch X": `package "lodash; touch X": must be the name of a package in the registry: name or ` +
			`@scope/name, of a-z, 0-9, . _ and -, beginning with a letter or digit`,
		"lodash@$(id)": `package "lodash@$(id)": after the @ must be one version, range or tag, such as 4.17.21, ` +
			`^4, ~1.2, >=2 or latest; no spaces, addresses, paths or aliases`,
		"lodash@": `package "lodash@": nothing follows the @; write a version, a range or a tag, or omit ` +
			`the @`,
		"@scope":       `package "@scope": a name with a scope must have the form @scope/name`,
		"evil.tgz":     `package "evil.tgz": npm would take this for a file`,
		"a@evil.tgz":   `package "a@evil.tgz": npm would take the part after the @ for a file`,
		"node_modules": `package "node_modules": npm reserves this name`,
	} {
		_, err := packages.ParseSpec(text)
		wantError(t, err, want)
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, text := range append([]string{"lodash-es@^4", "@scope/name@latest", "a@>=1"}, hostile[:100]...) {
		f.Add(text)
	}
	safe := regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[~^=<>]{0,2}` +
		`[0-9A-Za-z*][0-9A-Za-z.*+_-]*)?$`)
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := packages.ParseSpec(text)
		if err != nil {
			return
		}
		if !safe.MatchString(text) || strings.HasSuffix(strings.ToLower(text), ".tgz") || len(text) > 214+1+64 {
			t.Errorf("%q is taken for a package", text)
		}
		if again, err := packages.ParseSpec(spec.String()); spec.String() != text || err != nil || again != spec {
			t.Errorf("%q is read as %+v and written as %q", text, spec, spec)
		}
	})
}
