package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	inline  = regexp.MustCompile("`[^`\n]*`")
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
)

var function = regexp.MustCompile("\\[`(\\w+)`\\]\\(([^)]+\\.go)\\)")

// TestFunctions checks that the functions and types that documents name, [`Name`](file.go), are in these files.
func TestFunctions(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range pages(t) {
		for _, match := range function.FindAllStringSubmatch(p.text, -1) {
			file := filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(p.name), match[2])))
			source, err := os.ReadFile(file)
			declared := regexp.MustCompile(`(?m)^(func (\(.*\) )?|type )` + match[1] + `\b`)
			if err != nil || !declared.Match(source) && match[1]+".go" != path.Base(match[2]) {
				t.Errorf("%s: %s does not declare %s", p.name, match[2], match[1])
			}
			found++
		}
	}
	if found < 8 {
		t.Errorf("only %d functions were found", found)
	}
}

var evidence = regexp.MustCompile("\\[`((?:Test|Fuzz|Benchmark)\\w+)`\\]\\(([^)]+)\\)")

// TestEvidence checks that the tests that documents name, [`TestX`](package), exist.
func TestEvidence(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range pages(t) {
		for _, match := range evidence.FindAllStringSubmatch(p.text, -1) {
			dir := filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(p.name), match[2])))
			if !hasTest(t, dir, match[1]) {
				t.Errorf("%s: package %s has no test %s", p.name, match[2], match[1])
				continue
			}
			found++
		}
	}
	if found < 50 {
		t.Errorf("only %d tests were found", found)
	}
}

// hasTest reports whether a test file in a folder, or in the internal packages below it, has a
// function of that name.
func hasTest(t *testing.T, dir, name string) bool {
	found := false
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || found || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		found = strings.Contains(string(text), "\nfunc "+name+"(")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLinks follows the relative links of the documents, including those to headings.
func TestLinks(t *testing.T) {
	t.Parallel()
	links := 0
	for _, p := range pages(t) {
		prose := inline.ReplaceAllString(fenced.ReplaceAllString(p.text, ""), "")
		for _, match := range link.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			links++
			target, anchor, _ := strings.Cut(match[1], "#")
			file := filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(p.name), target)))
			if target == "" {
				file = filepath.Join(root, filepath.FromSlash(p.name))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the target of link %s does not exist", p.name, match[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(file, ".md") && !hasHeading(t, file, anchor) {
				t.Errorf("%s: the heading of link %s does not exist", p.name, match[1])
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links were found", links)
	}
}

func hasHeading(t *testing.T, file, anchor string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		if slug(match[1]) == anchor {
			return true
		}
	}
	return false
}

// slug returns the anchor that GitHub gives a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
