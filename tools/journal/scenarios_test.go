package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

var update = flag.Bool("update", false, "write the outcomes in testdata anew")

// TestScenarios plays the scenarios in testdata. The first file of an archive is "tools": see readTools. Each of the
// others is a scenario with these lines:
//
//	with mail.list           the set also has these tools; it always has those that are called
//	attempt                  the next program begins
//	  call = how             a call; the tool answers 5, with !an error, or never, or a policy says refused
//	  + call = how           a call at the same time as the calls with + before and after it
//	accept, end, turn        accept the step, end the attempt, begin a turn of a conversation
//	continue                 the call of the module is repeated
//	reconcile ok 5           Reconcile, which asks about entries and finds out: ok 5, rejected, unknown, or !an error
//	states                   lists the entries; it is the last line
//
// A call has one or two arguments: db.add({"n":1}, {"again":"E2"}). Programs catch the errors of their calls. The text
// after → is the outcome, which -update writes: what the program got, unless it is what the tool answered; or why the
// program ended. A line that begins with | continues the line before.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) < 2 || archive.Files[0].Name != "tools" {
				t.Fatalf("%v: %s must begin with the file tools", err, file)
			}
			declared, err := readTools(string(archive.Files[0].Data))
			if err != nil {
				t.Fatalf("%s: tools: %v", file, err)
			}
			for i, f := range archive.Files[1:] {
				t.Run(f.Name, func(t *testing.T) {
					got, err := playScenario(t, declared, string(f.Data))
					switch {
					case err != nil:
						t.Fatalf("%s: %s: %v", file, f.Name, err)
					case *update:
						archive.Files[i+1].Data = []byte(got)
					case got != string(f.Data):
						t.Errorf("%s differs; run with -update and review the difference. Got:\n%s", file, got)
					}
				})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// declaredTool is a tool without a handler.
type declaredTool struct {
	tools.Tool
	changed string // the arguments into which a policy changes those of calls, or ""
}

// readTools reads the classes of tools, one tool per line: mail.send effect identity=to,subject.
//
// The words after the class are identity=…, claims=…, repeatable, destructive, final, and changed=…, which are the
// arguments into which a policy changes those of every call.
func readTools(text string) (map[string]declaredTool, error) {
	list := map[string]declaredTool{}
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 {
			return nil, fmt.Errorf("line %d: want a tool, its class and perhaps more, not %q", n+1, line)
		}
		var b declaredTool
		if namespace, name, ok := strings.Cut(words[0], "."); ok {
			b.Namespace, b.Name = namespace, name
		} else {
			b.Name = words[0]
		}
		err := b.Hints.Class.UnmarshalText([]byte(words[1]))
		for _, word := range words[2:] {
			switch name, value, _ := strings.Cut(word, "="); name {
			case "identity":
				b.Hints.Identity = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
			case "claims":
				err = errors.Join(err, b.Claimed.UnmarshalText([]byte(value)))
			case "changed":
				b.changed = value
			case "repeatable":
				b.Hints.Repeatable = true
			case "destructive":
				b.Hints.Destructive = true
			case "final":
				b.Hints.ErrorsAreFinal = true
			default:
				err = fmt.Errorf("unknown word %q; use identity=…, claims=…, changed=…, repeatable, destructive or final", word)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		list[words[0]] = b
	}
	return list, nil
}

// scenario is a scenario that is being played.
type scenario struct {
	*play
	lines   []*scenarioLine
	how     string // how the call that is made ends
	reached chan struct{}
	found   string         // what Reconcile finds out
	asked   []string       // the entries about which it was asked
	never   sync.WaitGroup // calls that get no answer
	mistake error
}

// scenarioLine is a line of a scenario.
type scenarioLine struct {
	number  int
	text    string // without the outcome
	outcome string
	word    string // attempt, accept, …; "" for a call
	rest    string // the words after it

	path, args, second, how string // of a call; how it ends
	together                bool   // the call has a +
}

// playScenario plays a scenario and returns it with its outcomes.
func playScenario(t *testing.T, declared map[string]declaredTool, text string) (string, error) {
	t.Helper()
	s := &scenario{reached: make(chan struct{})}
	used, reconciles := map[string]bool{}, false
	for n, text := range strings.Split(strings.TrimSpace(unfold(text)), "\n") {
		l, err := readLine(text)
		for _, path := range append(strings.Split(l.rest, ", "), l.path) {
			if err == nil && (l.word == "with" || l.word == "") && path != "" {
				used[path] = true
				if _, ok := declared[path]; !ok {
					err = fmt.Errorf("the tool %q is not declared", path)
				}
			}
		}
		if err != nil {
			return "", fmt.Errorf("line %d: %w", n+1, err)
		}
		l.number, reconciles = n+1, reconciles || l.word == "reconcile"
		s.lines = append(s.lines, l)
	}
	if s.lines[len(s.lines)-1].word != "states" {
		s.lines = append(s.lines, &scenarioLine{text: "states", word: "states"})
	}
	var o journal.Options
	if reconciles {
		o.Reconcile = s.reconcile
	}
	set, err := s.set(t, declared, used)
	if err != nil {
		return "", err
	}
	s.play = newPlayOf(t, newWorld(nil), set, &o)
	ctx, cancel := context.WithCancel(t.Context())
	defer s.never.Wait()
	defer cancel()
	return s.run(ctx)
}

// words are the words with which a line of a scenario begins that is not a call.
var words = []string{"with", "attempt", "accept", "end", "turn", "continue", "reconcile", "states"}

func readLine(text string) (*scenarioLine, error) {
	text, _, _ = strings.Cut(text, " →")
	l := &scenarioLine{text: text}
	text = strings.TrimSpace(text)
	if word, rest, _ := strings.Cut(text, " "); slices.Contains(words, word) {
		l.word, l.rest = word, rest
		found, _, _ := strings.Cut(rest, " ")
		finds := slices.Contains([]string{"ok", "rejected", "unknown"}, found) || strings.HasPrefix(found, "!")
		switch {
		case word == "reconcile" && !finds:
			return l, fmt.Errorf("reconcile finds out ok, rejected, unknown or !an error, not %q", rest)
		case word != "reconcile" && word != "with" && rest != "":
			return l, fmt.Errorf("nothing may follow the word %s, not %q", word, rest)
		}
		return l, nil
	}
	text, l.together = strings.CutPrefix(text, "+ ")
	path, rest, ok := strings.Cut(text, "(")
	if !ok {
		return l, fmt.Errorf("%q is neither a call nor begins with one of the words %s", text, strings.Join(words, ", "))
	}
	l.path, l.args = path, "{}"
	if !strings.HasPrefix(rest, ")") {
		var first, second json.RawMessage
		var err error
		if first, rest, err = cutJSON(rest); err != nil {
			return l, fmt.Errorf("the arguments of %s: %w", path, err)
		}
		if after, ok := strings.CutPrefix(rest, ", "); ok {
			if second, rest, err = cutJSON(after); err == nil {
				_, err = dispatch.DecodeRepeat(second)
			}
			if err != nil {
				return l, fmt.Errorf("the second argument of %s: %w", path, err)
			}
		}
		l.args, l.second = string(first), string(second)
	}
	how, ok := strings.CutPrefix(rest, ")")
	if l.how, _ = strings.CutPrefix(how, " = "); !ok || l.how == how && how != "" {
		return l, fmt.Errorf("after the arguments of %s: want ) and perhaps = and how the call ends, not %q", path, rest)
	}
	special := slices.Contains([]string{"", "never", "refused"}, l.how) || len(l.how) > 1 && l.how[0] == '!'
	if !special && !json.Valid([]byte(l.how)) {
		return l, fmt.Errorf("%s cannot end with %s; use JSON, !an error, never or refused", path, l.how)
	}
	return l, nil
}

// cutJSON cuts a JSON value from the beginning of a text.
func cutJSON(text string) (value json.RawMessage, rest string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	err = d.Decode(&value)
	return value, text[d.InputOffset():], err
}

func (s *scenario) set(t *testing.T, declared map[string]declaredTool, used map[string]bool) (*tools.Set, error) {
	var sources []tools.Source
	for _, path := range slices.Sorted(maps.Keys(used)) {
		b := declared[path].Tool
		b.Handler = func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) { return s.handle(ctx) }
		sources = append(sources, &b)
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		return nil, err
	}
	return set.With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if s.how == "refused" {
				return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "refused"}
			}
			if args := declared[c.Tool.Path()].changed; args != "" {
				c.Args = json.RawMessage(args)
			}
			return next.Call(ctx, c)
		})
	}), nil
}

func (s *scenario) handle(ctx context.Context) (json.RawMessage, error) {
	switch kind, isError := strings.CutPrefix(s.how, "!"); {
	case s.how == "":
		s.mistake = errors.New("the call was made; add = and how it ends")
	case s.how == "never":
		s.reached <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	case kind == "504":
		return nil, errors.New(kind)
	case kind == "timeout":
		return nil, context.DeadlineExceeded
	case kind == "fatal":
		return nil, tools.Fatal(errors.New(kind))
	case isError:
		return nil, &tools.ToolError{Kind: kind, Message: kind}
	}
	return json.RawMessage(s.how), nil
}

// reconcile is Options.Reconcile.
func (s *scenario) reconcile(_ context.Context, e journal.Entry) (journal.Reconciled, error) {
	s.asked = append(s.asked, e.ID)
	state, result, _ := strings.Cut(s.found, " ")
	if message, isError := strings.CutPrefix(s.found, "!"); isError {
		return journal.Reconciled{}, errors.New(message)
	}
	return journal.Reconciled{State: journal.State(state), Result: json.RawMessage(result)}, nil
}

func (s *scenario) run(ctx context.Context) (string, error) {
	for i := 0; i < len(s.lines); i++ {
		l := s.lines[i]
		var err error
		switch l.word {
		case "attempt":
			program := s.lines[i+1:]
			if n := slices.IndexFunc(program, func(l *scenarioLine) bool { return l.word != "" }); n >= 0 {
				program = program[:n]
			}
			err = s.program(ctx, program)
			i += len(program)
		case "accept":
			l.outcome = ids(s.journal.Accept())
		case "end":
			s.journal.End()
		case "turn":
			l.outcome = fmt.Sprint(s.journal.Turn())
		case "continue":
			l.outcome = fmt.Sprint(s.journal.Continue("c"))
		case "reconcile":
			s.found, s.asked = l.rest, nil
			failed := s.journal.Reconcile(s.t.Context())
			if l.outcome = strings.Join(s.asked, ", "); failed != nil {
				l.outcome = strings.ReplaceAll(failed.Error(), "\n", "; ")
			}
		case "states":
			l.outcome = s.states()
		case "":
			err = fmt.Errorf("line %d: a call before the first attempt", l.number)
		}
		if err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for _, l := range s.lines {
		text := l.text
		if l.outcome != "" {
			text += " → " + l.outcome
		}
		b.WriteString(fold(text) + "\n")
	}
	return b.String(), nil
}

// program runs a program with the calls in the lines.
func (s *scenario) program(ctx context.Context, lines []*scenarioLine) error {
	at := -1 // the line that is being called
	end := s.attempt(func(g *guest) {
		for first := 0; first < len(lines); first = at + 1 {
			last := first
			for lines[first].together && last+1 < len(lines) && lines[last+1].together {
				last++
			}
			var calls []*guestCall
			for at = first; at <= last; at++ {
				calls = append(calls, g.start(lines[at].path, lines[at].args, lines[at].second))
			}
			for i, c := range calls {
				at = first + i
				if l := lines[at]; l.how == "never" {
					s.fly(ctx, g, c, l)
				} else {
					s.how = l.how
					g.perform(c)
					l.outcome = s.outcome(c)
				}
			}
		}
	})
	switch {
	case s.mistake != nil:
		return fmt.Errorf("line %d: %w", lines[at].number, s.mistake)
	case end == nil:
		return nil
	}
	l := lines[at]
	prefix := fmt.Sprintf("%s(%s) was held: ", l.path, l.args)
	l.outcome = how(end) + ": " + strings.TrimPrefix(end.Error(), prefix)
	for _, l := range lines[at+1:] {
		if !l.together {
			return fmt.Errorf("line %d: the program has ended before this call", l.number)
		}
	}
	return nil
}

// fly makes a call that gets no answer before ctx is done.
func (s *scenario) fly(ctx context.Context, g *guest, c *guestCall, l *scenarioLine) {
	s.how = l.how
	g.waiting = slices.DeleteFunc(g.waiting, func(other *guestCall) bool { return c == other })
	done := make(chan struct{})
	s.never.Go(func() {
		defer close(done)
		c.result, c.err = c.issued.Perform(ctx)
	})
	select {
	case <-s.reached:
	case <-done:
		l.outcome = s.outcome(c)
	}
}

// outcome returns what the program got, or "" if it is what the tool answered.
func (s *scenario) outcome(c *guestCall) string {
	text := string(c.result)
	if c.err != nil {
		text = "threw " + c.err.Error()
	}
	switch {
	case c.issued.Recorded:
		return "recorded " + text
	case text == s.how:
		return ""
	}
	return text
}

// Mistakes in archives are reported with the line and what is expected.
func TestScenarioMistakes(t *testing.T) {
	t.Parallel()
	declared, err := readTools("db.add effect")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"atempt": `line 1: "atempt" is neither a call nor begins with one of the words with, attempt, accept, end, turn, ` +
			"continue, reconcile, states",
		"attempt\n  db.ad()":                                  `line 2: the tool "db.ad" is not declared`,
		"with db.ad":                                          `line 1: the tool "db.ad" is not declared`,
		"attempt\n  db.add({n:1})":                            "line 2: the arguments of db.add: invalid character 'n' looking for beginning of object key string",
		"attempt\n  db.add({}, again)":                        "line 2: the second argument of db.add: invalid character 'a' looking for beginning of value",
		"attempt\n  db.add({}) -> 1":                          "line 2: after the arguments of db.add: want ) and perhaps = and how the call ends, not \") -> 1\"",
		"attempt\n  db.add() = !":                             "line 2: db.add cannot end with !; use JSON, !an error, never or refused",
		"attempt\n  db.add() = done":                          "line 2: db.add cannot end with done; use JSON, !an error, never or refused",
		"attempt\n  db.add({})":                               "line 2: the call was made; add = and how it ends",
		"db.add() = 1":                                        "line 1: a call before the first attempt",
		"attempt\nattempt\naccept now":                        `line 3: nothing may follow the word accept, not "now"`,
		"reconcile done":                                      "line 1: reconcile finds out ok, rejected, unknown or !an error, not \"done\"",
		"attempt\n  db.add({}, {\"again\":1})":                `line 2: the second argument of db.add: `,
		"attempt\n db.add() = !504\n db.add()\n db.add() = 1": "line 4: the program has ended before this call",
	} {
		if _, err := playScenario(t, declared, text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"db.add":               `line 1: want a tool, its class and perhaps more, not "db.add"`,
		"db.add writes":        `line 1: hints: unknown class "writes"; use effect, idempotent, read or unclassified`,
		"a read\nb read often": `line 2: unknown word "often"; use identity=…, claims=…, changed=…, repeatable, destructive or final`,
	} {
		if _, err := readTools(text); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}
