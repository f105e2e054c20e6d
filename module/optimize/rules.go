package optimize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check returns why a predictor cannot have these instructions: a text of Options.Keep that its own instructions have
// is missing, they are empty, or they are too long.
func (t *Task) Check(path, instructions string) error {
	if strings.TrimSpace(instructions) == "" && t.start.Predictors[path].Instructions != "" {
		return fmt.Errorf("the instructions of %s are empty", path)
	}
	for _, keep := range t.options.Keep {
		if strings.Contains(t.start.Predictors[path].Instructions, keep) && !strings.Contains(instructions, keep) {
			return fmt.Errorf("the instructions of %s lack %q, which Options.Keep requires", path, keep)
		}
	}
	if n, most := utf8.RuneCountInString(instructions), t.options.MaxInstructions; most > 0 && n > most {
		return fmt.Errorf("the instructions of %s have %d characters; Options.MaxInstructions is %d", path, n, most)
	}
	return nil
}

// Rules returns the rules that instructions must follow, for the model that writes them; or "".
func (t *Task) Rules() string {
	var b strings.Builder
	for _, keep := range t.options.Keep {
		fmt.Fprintf(&b, "- If the current instructions contain the following text, the new ones must contain it "+
			"unchanged: %s\n", keep)
	}
	if most := t.options.MaxInstructions; most > 0 {
		fmt.Fprintf(&b, "- The instructions must have at most %d characters.\n", most)
	}
	return b.String()
}

// checkCandidate returns why a candidate cannot be evaluated.
func (t *Task) checkCandidate(c *Candidate) error {
	if c == nil {
		return errors.New("optimize: the candidate is nil; Task.New makes one")
	}
	for path := range c.Predictors {
		if _, ok := t.start.Predictors[path]; !ok {
			return fmt.Errorf("optimize: candidate %q has a state for %q, which is not a predictor of the module", c.By, path)
		}
	}
	for _, p := range t.predictors {
		given, s := t.start.Predictors[p.Path], c.Predictors[p.Path]
		if given.same(s) {
			continue
		}
		if p.Frozen {
			return fmt.Errorf("optimize: candidate %q changes %s, which is frozen", c.By, p.Path)
		}
		if s.Instructions == given.Instructions {
			continue
		}
		if err := t.Check(p.Path, s.Instructions); err != nil {
			return fmt.Errorf("optimize: candidate %q: %w", c.By, err)
		}
	}
	return nil
}

// copiedWords is how many words in a row make a copy of an example.
const copiedWords = 8

// copies returns the examples whose texts were copied into the instructions of a candidate.
func (t *Task) copies(c *Candidate) (flags []string) {
	for _, p := range t.predictors {
		instructions := spaced(c.Predictors[p.Path].Instructions)
		given := spaced(t.start.Predictors[p.Path].Instructions)
		if instructions == given {
			continue
		}
		for _, set := range []struct {
			name  string
			items []Item
		}{{"Train", t.train}, {"Val", t.val}} {
			for _, item := range set.items {
				if item.copiedTo(instructions) && !item.copiedTo(given) {
					flag := fmt.Sprintf("the instructions of %s copy example %q of %s", p.Path, item.ID, set.name)
					flags = append(flags, flag)
				}
			}
		}
	}
	return flags
}

// copiedTo reports whether a text repeats a long run of words of the example, or a short input with its answer.
func (item Item) copiedTo(text string) bool {
	var asked, wanted []string
	for _, s := range stringsIn(item.Inputs) {
		asked = append(asked, spaced(s))
	}
	for _, s := range stringsIn(item.Want) {
		wanted = append(wanted, spaced(s))
	}
	for _, s := range append(asked, wanted...) {
		list := strings.Fields(s)
		for i := 0; i+copiedWords <= len(list); i++ {
			if strings.Contains(text, " "+strings.Join(list[i:i+copiedWords], " ")+" ") {
				return true
			}
		}
	}
	contains := func(s string) bool { return len(strings.Fields(s)) > 2 && strings.Contains(text, s) }
	for _, a := range asked {
		for _, w := range wanted {
			if contains(a) && w != "  " && strings.Contains(text, w) {
				return true
			}
		}
	}
	return false
}

// stringsIn returns the texts in a JSON value, and its numbers as they are written.
func stringsIn(raw json.RawMessage) (list []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case json.Number:
			list = append(list, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return list
}
