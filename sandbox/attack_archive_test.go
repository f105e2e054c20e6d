package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"
)

// sample returns the attacks of an archive to run: the first of each vector that ends by
// itself, one in eight of the others that do, and one in 32 of those that use up what they
// are given. Under the race detector, where everything takes several times as long, it is
// one in 24 attacks.
func sample(attacks []*attack) []*attack {
	var list []*attack
	seen := map[string]bool{}
	for i, a := range attacks {
		vector, n := path.Dir(a.name), uint32(8)
		switch {
		case a.exhausts():
			n = 32
		case !seen[vector]:
			seen[vector], n = true, 1
		}
		if raceDetector && i%24 == 0 || !raceDetector && sampled(a.name, n) {
			list = append(list, a)
		}
	}
	return list
}

// attack is a program that would harm a host without isolation.
type attack struct {
	name     string // vector/attack
	source   string
	then     string // a second program, which must find nothing of the first
	options  options
	outcomes []string // how it may end; more than one only where that is a race
}

// exhausts reports whether the attack uses up its time, its memory or its stack.
func (a *attack) exhausts() bool {
	costs := func(outcome string) bool {
		return strings.HasPrefix(outcome, outOfMemory) || strings.HasPrefix(outcome, "failure: crashed\n")
	}
	return a.options.timeout != attackTime || slices.ContainsFunc(a.outcomes, costs)
}

// memory returns the memory limit of the attack. With a lower limit, an attack that
// exhausts it ends sooner.
func (a *attack) memory() int64 {
	if len(a.outcomes) > 0 && !slices.ContainsFunc(a.outcomes,
		func(o string) bool { return !strings.HasPrefix(o, outOfMemory) }) {
		return attackLittle
	}
	return attackMemory
}

// outOfMemory is the beginning of the outcome of an attack that exhausts its memory.
const outOfMemory = "failure: memory_limit\n"

// attackOption matches a line of an archive's comment: the name of an attack and the
// options of behavior tests.
var attackOption = regexp.MustCompile(`(?m)^([a-z0-9-]+/[a-z0-9-]+): (.*)$`)

// readAttacks reads an archive. It contains NAME.js and NAME.outcome for each attack, and
// optionally NAME.then.js, and NAME.or for another outcome. Sources may contain templates
// between « and » for long text.
func readAttacks(file string) ([]*attack, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	var list []*attack
	byName := map[string]*attack{}
	for _, f := range archive.Files {
		name, _, _ := strings.Cut(f.Name, ".")
		text := strings.TrimSuffix(string(f.Data), "\n")
		a := byName[name]
		switch ext := strings.TrimPrefix(f.Name, name); {
		case ext == ".js" && a == nil:
			a = &attack{name: name, options: options{timeout: attackTime}}
			a.source, err = expand(text)
			list, byName[name] = append(list, a), a
		case ext == ".then.js" && a != nil:
			a.then, err = expand(text)
		case (ext == ".outcome" || ext == ".or") && a != nil:
			a.outcomes = append(a.outcomes, string(f.Data))
		default:
			err = errors.New("unknown or duplicate file")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, f.Name, err)
		}
	}
	for _, m := range attackOption.FindAllStringSubmatch(string(archive.Comment), -1) {
		a := byName[m[1]]
		if a == nil {
			return nil, fmt.Errorf("%s: unknown attack %s", file, m[1])
		}
		o, err := parseOptions(strings.ReplaceAll(m[2], ", ", "\n"))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, m[1], err)
		}
		if o.timeout == 0 {
			o.timeout = attackTime
		}
		a.options = o
	}
	return list, nil
}

// expand expands the templates of a source.
func expand(text string) (string, error) {
	t, err := template.New("").Delims("«", "»").Funcs(template.FuncMap{
		"repeat": func(n int, s string) string { return strings.Repeat(s, n) },
		"each": func(n int, format string) string { // each # is replaced by the index
			var b strings.Builder
			for i := range n {
				b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
			}
			return b.String()
		},
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, nil)
	return b.String(), err
}

// writeAttacks writes new outcomes into the archive.
func writeAttacks(file string, got map[string]attacked) error {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return err
	}
	attacks, err := readAttacks(file)
	if err != nil {
		return err
	}
	known := map[string]*attack{}
	for _, a := range attacks {
		known[a.name] = a
	}
	var files []txtar.File
	for i, f := range archive.Files {
		name, _, _ := strings.Cut(f.Name, ".")
		a, r := known[name], got[name]
		same := slices.Contains(a.outcomes, r.Outcome)
		isOutcome := !strings.HasSuffix(f.Name, ".js")
		if r.Outcome == "" || same || !isOutcome {
			files = append(files, f)
		}
		last := i+1 == len(archive.Files) || !strings.HasPrefix(archive.Files[i+1].Name, name+".")
		if last && r.Outcome != "" && !same {
			files = append(files, txtar.File{Name: name + ".outcome", Data: []byte(r.Outcome)})
		}
	}
	archive.Files = files
	return os.WriteFile(file, txtar.Format(archive), 0o644)
}
