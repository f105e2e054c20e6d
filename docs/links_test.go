package docs_test

import (
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

var evidence = regexp.MustCompile("\\[`((?:Test|Fuzz|Benchmark)\\w+)`\\]\\(([^)]+)\\)")

// TestEvidence checks that the tests that documents name, [`TestX`](file), exist.
func TestEvidence(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range pages(t) {
		for _, match := range evidence.FindAllStringSubmatch(p.text, -1) {
			file := filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(p.name), match[2])))
			text, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(text), "\nfunc "+match[1]+"(") {
				t.Errorf("%s: %s is not in %s (%v)", p.name, match[1], match[2], err)
				continue
			}
			found++
		}
	}
	if found < 50 {
		t.Errorf("only %d tests were found", found)
	}
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
