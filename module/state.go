package module

import (
	"bytes"
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
	Fields       map[string]string `json:"fields,omitempty"` // a hash of each; older states have none
	Instructions string            `json:"instructions"`
	Descriptions map[string]string `json:"descriptions,omitempty"`
	System       string            `json:"system,omitempty"`
	Hint         string            `json:"hint,omitempty"`
	Temperature  *float64          `json:"temperature,omitempty"`
	Demos        []Demo            `json:"demos,omitempty"`
}

// Save writes what a module, or any struct of modules, has learned. For each of its
// [Predictors], by path, that is: the instructions, the descriptions of the fields,
// the System prompt that replaces them, the Hint, the Temperature and the Demos. It
// is JSON, and the same bytes for the same state.
//
// Models, tools, briefings and options are made by the program and no part of the
// state. So it has no endpoints and no keys, but it has what demos show.
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

// Load gives the predictors of m the state that was saved. What the state lacks,
// such as a hint, is cleared.
//
// All of it fits or nothing is changed. The error names the predictor that is not
// as it was saved: there is none of that path, or none saved for it; its fields
// have other names or schemas; it has no instructions, where even empty ones are
// saved; a demo has a field that is unknown, or a value that does not fit; a name is
// not known, in another case, or given twice; a temperature is below zero, or above
// 100. Load before the module is used.
func Load(r io.Reader, m any) error {
	if r == nil {
		return errors.New("module: load: there is no reader")
	}
	saved, err := readState(r)
	if err != nil {
		return fmt.Errorf("module: load: %w", err)
	}
	changes := map[*Predictor]*Predictor{}
	known := map[string]bool{}
	for path, p := range Predictors(m) {
		raw, ok := saved.Predictors.Get(path)
		if !ok {
			return fmt.Errorf("module: load: the state has no predictor %s; it was saved of another module", path)
		}
		if changes[p], err = loadPredictor(p, raw); err != nil {
			return fmt.Errorf("module: load %s: %w", path, err)
		}
		known[path] = true
	}
	for _, s := range saved.Predictors {
		if !known[s.Name] {
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
	version, err := versionOf(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is not a state that was saved: %w", err)
	case version != stateVersion:
		return nil, fmt.Errorf("the state has version %d, but this program reads version %d", version, stateVersion)
	}
	var s state
	return &s, decode(raw, &s, "version", "predictors")
}

// versionOf reads the version alone: what else there is may have another form.
func versionOf(raw []byte) (int, error) {
	var version struct{ Version *int }
	switch err := json.Unmarshal(raw, &version); {
	case err == nil && version.Version == nil:
		return 0, errors.New("it has no version")
	case err == nil:
		return *version.Version, nil
	case json.Valid(raw) && first(bytes.TrimSpace(raw)) != '{':
		return 0, errors.New("it is not an object")
	default:
		return 0, err
	}
}

// stateOf returns the state of a predictor as JSON.
func stateOf(p *Predictor) (json.RawMessage, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	fields, err := p.fields()
	if err != nil {
		return nil, err
	}
	s := predictorState{
		Signature: fields.hash(), Fields: fields.hashes(), Instructions: toUTF8(p.Spec.Instructions()), Descriptions: map[string]string{},
		System: toUTF8(p.System), Hint: toUTF8(p.Hint), Temperature: p.Temperature, Demos: p.Demos,
	}
	for _, f := range slices.Concat(p.Spec.Inputs(), p.Spec.Outputs()) {
		if f.Description != "" {
			s.Descriptions[f.Name] = toUTF8(f.Description)
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return indented(s)
}

// loadPredictor returns a copy of a predictor with the state that was saved.
func loadPredictor(p *Predictor, raw json.RawMessage) (*Predictor, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	s, err := readPredictor(raw)
	if err != nil {
		return nil, err
	}
	fields, err := p.fields()
	switch {
	case err != nil:
		return nil, err
	case fields.hash() != s.Signature:
		return nil, fmt.Errorf("it was saved with another signature: %s", fields.differ(s.Fields))
	}
	n := p.Clone()
	n.System, n.Hint, n.Temperature, n.Demos = s.System, s.Hint, s.Temperature, s.Demos
	if n.Spec, err = describe(p.Spec.WithInstructions(s.Instructions), s.Descriptions); err != nil {
		return nil, err
	}
	return n, n.check()
}

func readPredictor(raw json.RawMessage) (s predictorState, err error) {
	err = decode(raw, &s, "signature", "fields", "instructions", "descriptions", "system", "hint", "temperature", "demos")
	if err != nil {
		return s, err
	}
	var given struct {
		Instructions *string
		Demos        []json.RawMessage
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return s, err
	}
	if given.Instructions == nil { // which Save always writes; an empty one may be meant
		return s, errors.New("it has no instructions")
	}
	for i, d := range given.Demos {
		if err := members(d, []string{"inputs", "outputs"}); err != nil {
			return s, fmt.Errorf("demo %d: %w", i+1, err)
		}
	}
	return s, nil
}

// describe gives the fields of a spec the descriptions that were saved.
func describe(spec *signature.Spec, saved map[string]string) (*signature.Spec, error) {
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if _, known := spec.Field(name); !known {
			return nil, fmt.Errorf("the description of %q is that of no field", name)
		}
	}
	for _, f := range slices.Concat(spec.Inputs(), spec.Outputs()) {
		text := saved[f.Name]
		if f.Description == text {
			continue
		}
		var err error
		if spec, err = spec.WithDescription(f.Name, text); err != nil {
			return nil, err
		}
	}
	return spec, nil
}

// toUTF8 is a text as JSON can hold it.
func toUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
