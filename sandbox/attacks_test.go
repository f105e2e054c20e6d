package sandbox_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/sandbox"
)

// attackFamilies are the built-ins that are attacked, and attackVectors the ways
// in which each of them is. The archives in testdata/attacks are the rows of
// this matrix, and name their attacks vector/attack; the comment of an archive
// says what stands for a vector that has no literal meaning there.
var (
	attackFamilies = []string{
		"additions", "array", "bigint", "console", "date", "error", "function", "generator", "inputs", "json", "map",
		"number", "object", "promise", "proxy", "reflect", "regexp", "set", "string", "submit", "symbol", "timers", "tools",
		"typed-array", "weak",
	}
	attackVectors = []string{
		"direct", "callback", "getter", "proxy", "iterator", "thenable", "species", "huge", "deep", "cyclic",
	}
	// attackedParts are archives on what is not a built-in.
	attackedParts = []string{"compiler", "converters", "found", "parser", "protocol", "sessions"}
)

const (
	attackCompute = 4 * time.Minute // of a processor, that an attack has
	attackMemory  = 128 << 20       // that it has
	attackLittle  = 64 << 20        // that it has if it can only run out of it
	// The rest is no verdict, but how long a machine that is busy with other things
	// is waited for.
	attackTime  = 4 * time.Minute // that an attack has, unless it is to run out of time
	attackStart = time.Minute     // to start the worker that the last attack has cost
	attackKill  = 8 * time.Minute // after which the host of an archive is killed
)

// TestAttacks has each archive attacked by a process of its own, which is the
// host of an isolated sandbox and is killed if it hangs. The host must survive
// each attack, go on running programs, and see it end as the archive says.
func TestAttacks(t *testing.T) {
	t.Parallel()
	two := make(chan struct{}, 2) // at a time: an attack takes what it can get
	for _, name := range slices.Concat(attackFamilies, attackedParts) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two <- struct{}{}
			defer func() { <-two }()
			testAttacks(t, filepath.Join("testdata/attacks", name+".txtar"))
		})
	}
}

// TestAttackMatrix checks that no cell is empty, and that nothing else is there.
func TestAttackMatrix(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/attacks/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, isArchive := strings.CutSuffix(filepath.Base(file), ".txtar")
		family := slices.Contains(attackFamilies, name)
		if !isArchive || !family && !slices.Contains(attackedParts, name) {
			t.Errorf("nothing runs %s", file)
			continue
		}
		attacks, err := readAttacks(file)
		if err != nil || len(attacks) == 0 {
			t.Errorf("%s has %d attacks, %v", file, len(attacks), err)
		}
		count := map[string]int{}
		for _, a := range attacks {
			count[path.Dir(a.name)]++
			if len(a.outcomes) == 0 {
				t.Errorf("%s does not say how %s ends", file, a.name)
			}
		}
		if !family {
			continue
		}
		for _, vector := range attackVectors {
			if count[vector] == 0 {
				t.Errorf("%s has no attack by way of %s", file, vector)
			}
			delete(count, vector)
		}
		if len(count) > 0 {
			t.Errorf("%s has ways that the matrix does not: %v", file, slices.Sorted(maps.Keys(count)))
		}
	}
}

// sample returns the attacks of an archive to run: the first of each vector that ends by
// itself, one in three of the others that do, and one in 16 of those that use up what they
// are given. Under the race detector, where everything takes several times as long, it is
// one in six attacks.
func sample(attacks []*attack) []*attack {
	var list []*attack
	seen := map[string]bool{}
	for i, a := range attacks {
		vector, n := path.Dir(a.name), uint32(3)
		switch {
		case a.exhausts():
			n = 16
		case !seen[vector]:
			seen[vector], n = true, 1
		}
		if raceDetector && i%6 == 0 || !raceDetector && sampled(a.name, n) {
			list = append(list, a)
		}
	}
	return list
}

func testAttacks(t *testing.T, file string) {
	attacks, err := readAttacks(file)
	if err != nil {
		t.Fatal(err)
	}
	attacks = sample(attacks)
	ctx, cancel := context.WithTimeout(t.Context(), attackKill)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), attackEnv+"="+file)
	cmd.WaitDelay = attackStart
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	died := cmd.Run()
	got := map[string]attacked{}
	reports := json.NewDecoder(&stdout)
	for {
		var r attacked
		if err := reports.Decode(&r); err != nil {
			break // it is what the host could say that counts
		}
		got[r.Name] = r
	}
	for _, a := range attacks {
		r, ok := got[a.name]
		switch {
		case !ok:
			t.Errorf("%s: the host did not survive it, or an earlier one", a.name)
			continue
		case !*update && !slices.Contains(a.outcomes, r.Outcome):
			t.Errorf("%s: got\n%swant\n%s", a.name, r.Outcome, strings.Join(a.outcomes, "or\n"))
		}
		for _, problem := range r.Problems {
			t.Errorf("%s: %s\n%s", a.name, problem, r.Outcome)
		}
		if r.Late > lateness {
			t.Logf("%s: %v after its deadline", a.name, r.Late)
		}
	}
	if died != nil {
		t.Errorf("the host: %v\n%s", died, stderr.String())
	}
	if *update {
		if err := writeAttacks(file, got); err != nil {
			t.Error(err)
		}
	}
}

// attack is a program that would harm a host which runs it itself.
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

// memory is what the attack is given: the more, the longer the collector works before
// it has run out.
func (a *attack) memory() int64 {
	if len(a.outcomes) > 0 && !slices.ContainsFunc(a.outcomes, func(o string) bool { return !strings.HasPrefix(o, outOfMemory) }) {
		return attackLittle
	}
	return attackMemory
}

// outOfMemory is how the outcome of such an attack begins.
const outOfMemory = "failure: memory_limit\n"

// attackOption is a line of an archive's comment: the name of an attack and the
// options of behaviour tests.
var attackOption = regexp.MustCompile(`(?m)^([a-z0-9-]+/[a-z0-9-]+): (.*)$`)

// readAttacks reads an archive. It holds NAME.js and NAME.outcome for each
// attack, and if need be NAME.then.js, and NAME.or for another outcome. Sources
// may contain templates between « and », for what is too long to write.
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
			err = errors.New("it is not known what this is, or it stands twice")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, f.Name, err)
		}
	}
	for _, m := range attackOption.FindAllStringSubmatch(string(archive.Comment), -1) {
		a := byName[m[1]]
		if a == nil {
			return nil, fmt.Errorf("%s: there is no %s", file, m[1])
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

// expand makes the source of what an archive has.
func expand(text string) (string, error) {
	t, err := template.New("").Delims("«", "»").Funcs(template.FuncMap{
		"repeat": func(n int, s string) string { return strings.Repeat(s, n) },
		"each": func(n int, format string) string { // its number stands for each #
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

// writeAttacks writes how attacks ended into their archive, where it does not
// say so already.
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

// attackEnv names the archive that this process is the host of. TestMain looks
// at it.
const attackEnv = "WRIT_TEST_ATTACKS"

// attacked is what the host of an attack says of it.
type attacked struct {
	Name     string
	Outcome  string
	Problems []string
	Late     time.Duration // after its deadline; negative if before
}

// attackHost makes the attacks of an archive, one after the other, and writes
// how they ended.
func attackHost(file string, w io.Writer) error {
	attacks, err := readAttacks(file)
	if err != nil {
		return err
	}
	boxes := map[sandbox.Limits]*sandbox.Sandbox{}
	for _, a := range sample(attacks) {
		limits := a.options.limits
		limits.Memory = a.memory()
		if boxes[limits] == nil {
			box, err := openForAttacks(limits)
			if err != nil {
				return err
			}
			defer box.Close()
			boxes[limits] = box
		}
		r, err := attackOne(boxes[limits], a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		if err := json.NewEncoder(w).Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// openForAttacks opens a sandbox with one worker, so that a program meets what
// the one before it left behind.
func openForAttacks(limits sandbox.Limits) (*sandbox.Sandbox, error) {
	limits.Time = attackKill
	limits.Compute = cmp.Or(limits.Compute, attackCompute)
	return sandbox.New(&sandbox.Options{Limits: limits, Workers: 1})
}

// attackOne makes one attack.
func attackOne(box *sandbox.Sandbox, a *attack) (*attacked, error) {
	r := &attacked{Name: a.name}
	set, record := attackTools()
	p := sandbox.Program{
		Source: a.source, Timeout: a.options.timeout, Submit: true, Tools: set, Inputs: attackInputs,
		OnCall: func(c sandbox.Call) { record.told(c) },
	}
	start := time.Now()
	out, err := runGuarded(box, p)
	if errors.Is(err, errHangs) {
		return nil, err
	}
	r.Late = time.Since(start) - p.Timeout
	r.Outcome = normalised(out, err)
	r.Problems = attackProblems(out, r.Outcome)
	if problem := record.compare(out); problem != "" {
		r.Problems = append(r.Problems, problem)
	}
	if a.then != "" {
		p.Source, p.Timeout = a.then, attackTime // it shall not run out of time
		out, err := runGuarded(box, p)
		r.Outcome += "then\n" + normalised(out, err)
	}
	out, err = runGuarded(box, sandbox.Program{Source: "1 + 1", Timeout: attackStart})
	if got := outcomeOf(out, err); got != "value: 2\n" {
		r.Problems = append(r.Problems, "the next run gave "+got)
	}
	return r, nil
}

var errHangs = errors.New("it did not come back")

// runGuarded runs a program, and gives up if that does not end.
func runGuarded(box *sandbox.Sandbox, p sandbox.Program) (out *sandbox.Outcome, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = box.Run(context.Background(), p)
	}()
	select {
	case <-done:
		return out, err
	case <-time.After(p.Timeout + guard + attackStart):
		return nil, errHangs
	}
}

// overtime is how a run ends whose time is over: by the program's own interrupt,
// or by the end of its process, and with it of the console, if a built-in keeps it
// from hearing that. Which of them it is depends on how busy the machine is.
var overtime = regexp.MustCompile(`the program (ran longer than|did not end within) ([^\s,]+)( and was killed)?`)

func normalised(out *sandbox.Outcome, err error) string {
	if out != nil && out.Failure != nil && out.Failure.Kind == sandbox.KindTimeout {
		silent := *out
		silent.Stdout, silent.Stderr = sandbox.Output{}, sandbox.Output{}
		out = &silent
	}
	if out != nil && leavesCalls(out.Failure) { // whether each of them was still made is chance
		left := *out
		left.Calls = slices.Clone(out.Calls)
		for i := range left.Calls {
			left.Calls[i].Result, left.Calls[i].Error, left.Calls[i].Pending = json.RawMessage(`"or not made"`), nil, false
		}
		failure := *out.Failure
		failure.Message, _, _ = strings.Cut(failure.Message, "\n- ")
		failure.Message = howMany.ReplaceAllString(failure.Message, "some calls were not")
		left.Failure = &failure
		out = &left
	}
	text := strings.ReplaceAll(outcomeOf(out, err), "\r", "␍") // which archives do not keep
	return overtime.ReplaceAllString(text, "the program ran out of time")
}

// howMany calls are left behind is chance, too.
var howMany = regexp.MustCompile(`\d+ calls? (was|were) not`)

// leavesCalls reports whether a program ended so with calls under way.
func leavesCalls(f *sandbox.Failure) bool {
	return f != nil && (f.Kind == sandbox.KindUnawaited || f.Kind == sandbox.KindCallLimit || strings.HasSuffix(f.Message, "Error: ended") ||
		strings.HasSuffix(f.Message, "Error: at once"))
}

// leak matches what only the host's inside has: Go's names, files and addresses.
var leak = regexp.MustCompile(`goja|github\.com|golang|goroutine |runtime[.:]|reflect\.|interface \{\}|\bmap\[|\*?big\.Int|\.go\b|0x[0-9a-f]{6}|` +
	`/(tmp|root|home|proc|work)/|exit status|panic|nil pointer|%!|\[\]byte|json: |strconv|unsafe|VmData|rlimit|makeslice|Builder|frame '`)

// attackProblems looks for what no outcome may have.
func attackProblems(out *sandbox.Outcome, text string) []string {
	var list []string
	if found := leak.FindString(text); found != "" {
		list = append(list, fmt.Sprintf("it lets %q out", found))
	}
	if out == nil {
		return append(list, "there is no outcome")
	}
	for _, s := range []sandbox.Output{out.Stdout, out.Stderr} {
		if !utf8.ValidString(s.Text) || s.Bytes < len(s.Text) {
			list = append(list, "the console's text is not text")
		}
	}
	texts := []json.RawMessage{out.Value}
	for _, c := range out.Calls {
		texts = append(texts, c.Args, c.Result)
	}
	for _, text := range texts {
		if text != nil && (!json.Valid(text) || !utf8.Valid(text)) {
			list = append(list, fmt.Sprintf("this is not JSON: %.100s", text))
		}
	}
	f := out.Failure
	switch {
	case f == nil:
	case out.Value != nil || out.Submitted:
		list = append(list, "it both failed and gave a value")
	case f.Kind == sandbox.KindCrashed && !strings.HasPrefix(f.Message, "stack overflow: ") &&
		f.Message != "a built-in function of the engine failed": // goja's bugs, which end the program
		list = append(list, "it crashed of something that it is not told")
	case f.Kind == "" || f.Message == "" || len(f.String()) > 10_000:
		list = append(list, "the failure says nothing, or too much")
	}
	return list
}
