package mcptools

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestParseEnv(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "A=1\nB=two words  \n", `A="1" B="two words"`},
		{"export, spaces and a byte order mark", "\ufeffexport A = 1\r\n  B=2\r\nexport_C=3", `A="1" B="2" export_C="3"`},
		{"comments", "# one\n\nA=1 # two\nB=a#b\nC=#three\nD=x\t# four\n", `A="1" B="a#b" C="" D="x"`},
		{"single quotes", `A='a "$b" \n # c' # d`, `A="a \"$b\" \\n # c"`},
		{"double quotes", `A="a \"b\" \n\t\\n 'c' $D"`, `A="a \"b\" \n\t\\n 'c' $D"`},
		{"several lines", "A=\"one\ntwo\"\nB='x\ny'\nC=3", `A="one\ntwo" B="x\ny" C="3"`},
		{"equal signs", "A=b=c==", `A="b=c=="`},
		{"empty", "A=\nB=''\nC=\"\"", `A="" B="" C=""`},
		{"repeated names", "A=1\nA=2", `A="2"`},
		{"empty file", "", ``},
		{"missing name", "A=1\n=2", "error: line 2 is not NAME=value, or its quotes are not closed"},
		{"missing equal sign", "A=1\n\nexport B\nC=3", "error: line 3 is not NAME=value, or its quotes are not closed"},
		{"invalid name", "A B=1", "error: line 1 is not NAME=value, or its quotes are not closed"},
		{"unclosed quote", "A=1\nB=\"s3cret\nC=2", "error: line 2 is not NAME=value, or its quotes are not closed"},
		{"text after a quote", "A='s3'cret", "error: line 1 is not NAME=value, or its quotes are not closed"},
	} {
		vars := map[string]string{}
		err := parseEnv([]byte(c.in), vars)
		got := fmt.Sprintf("error: %v", err)
		if err == nil {
			var list []string
			for _, name := range slices.Sorted(maps.Keys(vars)) {
				list = append(list, fmt.Sprintf("%s=%q", name, vars[name]))
			}
			got = strings.Join(list, " ")
		}
		equal(t, c.name, got, c.want)
	}
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func FuzzParseEnv(f *testing.F) {
	f.Add([]byte("export A='1'\n# x\nB=\"a\\n\"\r\n"))
	f.Add([]byte("A=\"\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		vars := map[string]string{}
		if parseEnv(data, vars) != nil {
			return
		}
		var written strings.Builder
		for name, value := range vars {
			if !envName.MatchString(name) {
				t.Fatalf("name %q", name)
			}
			if strings.Contains(value, "'") || strings.Contains(value, "\r\n") {
				continue // single quotes cannot contain it
			}
			fmt.Fprintf(&written, "%s='%s'\n", name, value)
		}
		again := map[string]string{}
		if err := parseEnv([]byte(written.String()), again); err != nil {
			t.Fatal(err)
		}
		for name, value := range again {
			if vars[name] != value {
				t.Fatalf("%s: %q was parsed again as %q", name, vars[name], value)
			}
		}
	})
}
