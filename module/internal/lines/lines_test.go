package lines_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/internal/lines"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	foreign := errors.New("not ours")
	for _, test := range []struct{ text, kept, read, want string }{
		{"", "", "", ""},
		{"{\"a\":1}\n{\"a\":2}", "{\"a\":1}\n{\"a\":2}\n", `{"a":1} {"a":2}`, ""},
		{"{\"a\":1}\n\n{\"a\":", "{\"a\":1}\n\n", `{"a":1}`, ""},
		{`{"a`, "", "", ""},
		{`{"b`, `{"b`, "", "line 1: not ours"},
		{"bad\n{\"a\":", "bad\n{\"a\":", "", "line 1: bad"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var read []string
		file, err := lines.Open(path, []string{`{"a":`}, foreign, func(_ int, line []byte) error {
			if strings.HasPrefix(string(line), "bad") {
				return errors.New("bad")
			}
			read = append(read, strings.TrimSpace(string(line)))
			return nil
		})
		if err != nil && err.Error() != test.want || err == nil && test.want != "" || strings.Join(read, " ") != test.read {
			t.Errorf("%q: read %q, %v", test.text, read, err)
		}
		want := test.kept
		if err == nil {
			if err := file.Append(map[string]string{"a": "<"}); err != nil || file.Broken() != nil {
				t.Error(err)
			}
			file.Close()
			if file.Append(1) == nil || file.Broken() == nil {
				t.Error("a closed file was written")
			}
			want += "{\"a\":\"<\"}\n"
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != want {
			t.Errorf("%q is now %q, %v", test.text, after, err)
		}
	}
}
