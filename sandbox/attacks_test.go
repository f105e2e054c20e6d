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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// attackFamilies are the built-ins that are attacked, and attackVectors the ways in which
// each of them is attacked. The archives in testdata/attacks are the rows of this matrix.
// Their attacks are named vector/attack; the comment of an archive says what a vector
// without literal meaning is used for.
var (
	attackFamilies = []string{
		"additions", "array", "bigint", "console", "date", "error", "function", "generator", "inputs", "json", "map",
		"number", "object", "promise", "proxy", "reflect", "regexp", "set", "string", "submit", "symbol", "timers", "tools",
		"typed-array", "weak",
	}
	attackVectors = []string{
		"direct", "callback", "getter", "proxy", "iterator", "thenable", "species", "huge", "deep", "cyclic",
	}
	// attackedParts are the archives about other parts than built-ins.
	attackedParts = []string{"compiler", "converters", "found", "parser", "protocol", "sessions"}
)

const (
	attackCompute = 4 * time.Minute // computing time of an attack
	attackMemory  = 128 << 20       // memory of an attack
	attackLittle  = 64 << 20        // memory of an attack that exhausts it
	// The following limits only bound the time on a busy machine.
	attackTime  = 4 * time.Minute // of an attack, unless it sets a timeout
	attackStart = time.Minute     // to start another worker after an attack
	attackKill  = 8 * time.Minute // of the host of an archive
)

// TestAttacks runs each archive in a process of its own, which is the host of an isolated
// sandbox and is killed if it hangs. The host must survive each attack and remain able to
// run programs, and the attack must end as the archive says.
func TestAttacks(t *testing.T) {
	t.Parallel()
	two := make(chan struct{}, 2) // two at a time, because an attack uses all resources it can get
	for _, name := range slices.Concat(attackFamilies, attackedParts) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two <- struct{}{}
			defer func() { <-two }()
			testAttacks(t, filepath.Join("testdata/attacks", name+".txtar"))
		})
	}
}

// TestAttackMatrix checks that every cell of the matrix has an attack, and that every
// archive is run.
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
			t.Errorf("no test runs %s", file)
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
				t.Errorf("%s has no outcome for %s", file, a.name)
			}
		}
		if !family {
			continue
		}
		for _, vector := range attackVectors {
			if count[vector] == 0 {
				t.Errorf("%s has no attack with vector %s", file, vector)
			}
			delete(count, vector)
		}
		if len(count) > 0 {
			t.Errorf("%s has unknown vectors: %v", file, slices.Sorted(maps.Keys(count)))
		}
	}
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
			break // only what the host could report counts
		}
		got[r.Name] = r
	}
	for _, a := range attacks {
		r, ok := got[a.name]
		switch {
		case !ok:
			t.Errorf("%s: the host did not survive this attack or an earlier one", a.name)
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

// attackEnv names the archive whose host this process is. TestMain reads it.
const attackEnv = "WRIT_TEST_ATTACKS"

// attacked is the report of an attack by its host.
type attacked struct {
	Name     string
	Outcome  string
	Problems []string
	Late     time.Duration // after its deadline; negative if before
}

// attackHost runs the attacks of an archive in order and writes their reports.
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

// openForAttacks opens a sandbox with one worker, so that each program runs where the
// previous one ran.
func openForAttacks(limits sandbox.Limits) (*sandbox.Sandbox, error) {
	limits.Time = attackKill
	limits.Compute = cmp.Or(limits.Compute, attackCompute)
	return sandbox.New(&sandbox.Options{Limits: limits, Workers: 1})
}

// attackOne runs one attack.
func attackOne(box *sandbox.Sandbox, a *attack) (*attacked, error) {
	r := &attacked{Name: a.name}
	set, record := attackTools()
	p := sandbox.Program{
		Source: a.source, Submit: true, Tools: set, Inputs: attackInputs,
		Limits: sandbox.Limits{Time: a.options.timeout},
		OnCall: func(c sandbox.Call) { record.observe(c) },
	}
	start := time.Now()
	out, err := runGuarded(box, p)
	if errors.Is(err, errHangs) {
		return nil, err
	}
	r.Late = time.Since(start) - p.Limits.Time
	r.Outcome = normalised(out, err)
	r.Problems = attackProblems(out, r.Outcome)
	if problem := record.compare(out); problem != "" {
		r.Problems = append(r.Problems, problem)
	}
	if a.then != "" {
		p.Source, p.Limits.Time = a.then, attackTime // it must not run out of time
		out, err := runGuarded(box, p)
		r.Outcome += "then\n" + normalised(out, err)
	}
	out, err = runGuarded(box, sandbox.Program{Source: "1 + 1", Limits: sandbox.Limits{Time: attackStart}})
	if got := outcomeOf(out, err); got != "value: 2\n" {
		r.Problems = append(r.Problems, "the next run returned "+got)
	}
	return r, nil
}

var errHangs = errors.New("the run did not end")

// runGuarded runs a program and gives up if the run does not end.
func runGuarded(box *sandbox.Sandbox, p sandbox.Program) (out *sandbox.Outcome, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = box.Run(context.Background(), p)
	}()
	select {
	case <-done:
		return out, err
	case <-time.After(p.Limits.Time + guard + attackStart):
		return nil, errHangs
	}
}
