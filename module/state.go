package module

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// stateVersion is the version of the form that Save writes. Load reads this one.
const stateVersion = 1

// state is what is saved of a module.
type state struct {
	Version    int              `json:"version"`
	Predictors signature.Values `json:"predictors"` // each a predictorState, by path
}

// predictorState is what is saved of a Predictor: what may have been learned, and
// the signature that it was learned for.
type predictorState struct {
	Signature    string            `json:"signature"`
	Instructions string            `json:"instructions"`
	Descriptions map[string]string `json:"descriptions,omitempty"`
	System       string            `json:"system,omitempty"`
	Hint         string            `json:"hint,omitempty"`
	Temperature  *float64          `json:"temperature,omitempty"`
	Demos        []Demo            `json:"demos,omitempty"`
}

// Save writes what can be learned of a module, or of any struct of modules: of
// each of its [Predictors], by its path, the instructions, the descriptions of
// the fields, the System prompt that replaces them, the Hint, the Temperature and
// the Demos. It is JSON, and the same bytes for the same state.
//
// Models, tools, briefings and options are made by the program, and no part of
// it; so there are no endpoints and no keys in it, but whatever demos show.
//
// The error names the predictor that cannot be saved: it has no signature, or a
// temperature or a demo that [Load] would refuse. Then nothing is written.
func Save(w io.Writer, m any) error {
	if w == nil {
		return errors.New("module: save: there is no writer")
	}
	s := state{Version: stateVersion, Predictors: signature.Values{}}
	for path, p := range Predictors(m) {
		saved, err := stateOf(p)
		if err != nil {
			return fmt.Errorf("module: save %s: %w", path, err)
		}
		s.Predictors = append(s.Predictors, signature.Value{Name: path, JSON: saved})
	}
	if len(s.Predictors) == 0 {
		return fmt.Errorf("module: save: there are no Predictors in %T; export the fields with its modules", m)
	}
	raw, err := indented(s)
	if err != nil {
		return fmt.Errorf("module: save: %w", err)
	}
	_, err = w.Write(raw)
	return err
}

// Load gives the predictors of m the state that was saved. What a state does not
// have, such as a hint, they lose.
//
// All of it fits or nothing is changed. The error names the predictor that is not
// as it was saved: there is none of that path, or none saved for it; its fields
// have other names or schemas; a demo has a field that is unknown, or a value
// that does not fit; a name is not known, in another case, or given twice; a
// temperature is below zero, or above 100. Load before the module is used.
func Load(r io.Reader, m any) error {
	if r == nil {
		return errors.New("module: load: there is no reader")
	}
	saved, err := readState(r)
	if err != nil {
		return fmt.Errorf("module: load: %w", err)
	}
	changes := map[*Predictor]*Predictor{}
	known := signature.Values{}
	for path, p := range Predictors(m) {
		raw, ok := saved.Predictors.Get(path)
		if !ok {
			return fmt.Errorf("module: load: the state has no predictor %s; it was saved of another module", path)
		}
		if changes[p], err = loaded(p, raw); err != nil {
			return fmt.Errorf("module: load %s: %w", path, err)
		}
		known = append(known, signature.Value{Name: path})
	}
	for _, s := range saved.Predictors {
		if _, ok := known.Get(s.Name); !ok {
			return fmt.Errorf("module: load: there is no predictor %s in %T; the state was saved of another module", s.Name, m)
		}
	}
	for p, n := range changes {
		p.Spec, p.System, p.Hint, p.Temperature, p.Demos = n.Spec, n.System, n.Hint, n.Temperature, n.Demos
	}
	return nil
}

func readState(r io.Reader) (*state, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var version struct{ Version int }
	if err := json.Unmarshal(raw, &version); err != nil {
		return nil, fmt.Errorf("it is not a state that was saved: %w", err)
	}
	if version.Version != stateVersion {
		return nil, fmt.Errorf("the state has version %d, but this program reads version %d", version.Version, stateVersion)
	}
	var s state
	return &s, decode(raw, &s, "version", "predictors")
}

// stateOf returns the state of a predictor as JSON.
func stateOf(p *Predictor) (json.RawMessage, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	hash, err := p.hash()
	if err != nil {
		return nil, err
	}
	s := predictorState{
		Signature: hash, Instructions: valid(p.Spec.Instructions()), Descriptions: map[string]string{},
		System: valid(p.System), Hint: valid(p.Hint), Temperature: p.Temperature, Demos: p.Demos,
	}
	for _, f := range slices.Concat(p.Spec.Inputs(), p.Spec.Outputs()) {
		if f.Description != "" {
			s.Descriptions[f.Name] = valid(f.Description)
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return indented(s)
}

// loaded returns a copy of a predictor with the state that was saved.
func loaded(p *Predictor, raw json.RawMessage) (*Predictor, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	s, err := readPredictor(raw)
	if err != nil {
		return nil, err
	}
	hash, err := p.hash()
	switch {
	case err != nil:
		return nil, err
	case hash != s.Signature:
		return nil, errors.New("it was saved with another signature: the names or the schemas of its fields are not the same")
	}
	n := p.Clone()
	n.System, n.Hint, n.Temperature, n.Demos = s.System, s.Hint, s.Temperature, s.Demos
	if n.Spec, err = described(p.Spec.WithInstructions(s.Instructions), s.Descriptions); err != nil {
		return nil, err
	}
	return n, n.check()
}

func readPredictor(raw json.RawMessage) (s predictorState, err error) {
	err = decode(raw, &s, "signature", "instructions", "descriptions", "system", "hint", "temperature", "demos")
	if err != nil {
		return s, err
	}
	var demos struct{ Demos []json.RawMessage }
	if err := json.Unmarshal(raw, &demos); err != nil {
		return s, err
	}
	for i, d := range demos.Demos {
		if err := members(d, []string{"inputs", "outputs"}); err != nil {
			return s, fmt.Errorf("demo %d: %w", i+1, err)
		}
	}
	return s, nil
}

// described gives the fields of a spec the descriptions that were saved.
func described(spec *signature.Spec, saved map[string]string) (*signature.Spec, error) {
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if _, known := spec.Field(name); !known {
			return nil, fmt.Errorf("the description of %q is that of no field", name)
		}
	}
	for _, f := range slices.Concat(spec.Inputs(), spec.Outputs()) {
		if f.Description == saved[f.Name] {
			continue
		}
		var err error
		if spec, err = spec.WithDescription(f.Name, saved[f.Name]); err != nil {
			return nil, err
		}
	}
	return spec, nil
}

// maxTemperature is more than any provider takes.
const maxTemperature = 100

// check checks what was learned.
func (p *Predictor) check() error {
	if t := p.Temperature; t != nil && !(*t >= 0 && *t <= maxTemperature) { // or not a number
		return fmt.Errorf("a temperature of %g cannot be meant", *t)
	}
	return p.checkDemos()
}

// checkDemos checks the values of demos. Some may be missing: there are demos
// without the reasoning.
func (p *Predictor) checkDemos() error {
	asked := p.Spec
	if p.task != nil {
		asked = p.task
	}
	for i, d := range p.Demos {
		if err := checkValues(asked.Inputs(), "input", d.Inputs); err != nil {
			return fmt.Errorf("demo %d: %w", i+1, err)
		}
		if err := checkValues(p.Spec.Outputs(), "output", d.Outputs); err != nil {
			return fmt.Errorf("demo %d: %w", i+1, err)
		}
	}
	return nil
}

func checkValues(fields []signature.Field, side string, values signature.Values) error {
	for i, v := range values {
		named := func(f signature.Field) bool { return f.Name == v.Name }
		at := slices.IndexFunc(fields, named)
		if at < 0 {
			return fmt.Errorf("there is no %s %q", side, v.Name)
		}
		if _, twice := values[:i].Get(v.Name); twice {
			return fmt.Errorf("the %s %q is given twice", side, v.Name)
		}
		if findings := fields[at].Schema.Validate(v.JSON); findings != nil {
			return fmt.Errorf("the %s %q: %w", side, v.Name, &signature.InvalidError{Findings: findings})
		}
	}
	return nil
}

// hash identifies what a predictor asks for, and the task that it does so for: the
// names and the schemas of the fields, but not what is said about them.
func (p *Predictor) hash() (string, error) {
	sum := sha256.New()
	sides := [][]signature.Field{p.Spec.Inputs(), p.Spec.Outputs()}
	if p.task != nil {
		sides = append(sides, p.task.Inputs(), p.task.Outputs())
	}
	for _, fields := range sides {
		for _, f := range fields {
			shape, err := schemaOf(f)
			if err != nil {
				return "", fmt.Errorf("field %q: %w", f.Name, err)
			}
			fmt.Fprintf(sum, "%q %t %s\n", f.Name, f.Required, shape)
		}
		fmt.Fprintln(sum)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// schemaOf is the schema of a field without its description, in one form.
func schemaOf(f signature.Field) ([]byte, error) {
	var keywords any
	decoder := json.NewDecoder(bytes.NewReader(f.Schema.Raw()))
	decoder.UseNumber()
	if err := decoder.Decode(&keywords); err != nil {
		return nil, err
	}
	if object, ok := keywords.(map[string]any); ok {
		delete(object, "description")
		if object["$id"] == "field:"+f.Name { // as a spec marks those that refer to themselves
			delete(object, "$id")
		}
	}
	return json.Marshal(keywords)
}

// valid is a text as JSON can hold it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
