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

	"github.com/writ-go/writ/module/internal/fingerprint"
	"github.com/writ-go/writ/signature"
)

// stateVersion is the version of the format that Save writes and Load reads.
const stateVersion = 1

// state is the saved state of a module.
type state struct {
	Version    int              `json:"version"`
	Predictors signature.Values `json:"predictors"` // a predictorState for each path
}

// predictorState is the saved state of a Predictor: what may have been learned, and the signature that it was
// learned for.
type predictorState struct {
	Signature    string            `json:"signature"`
	Fields       map[string]string `json:"fields,omitempty"` // a hash of each
	Instructions *string           `json:"instructions"`
	Descriptions map[string]string `json:"descriptions,omitempty"`
	System       string            `json:"system,omitempty"`
	Hint         string            `json:"hint,omitempty"`
	Temperature  *float64          `json:"temperature,omitempty"`
	Demos        []Demo            `json:"demos,omitempty"`
}

// Save writes the learned state of a module, or of any struct of modules. For each of its [Predictors], by path, the
// state has the instructions, the descriptions of the fields, the System prompt, the Hint, the Temperature and the
// Demos. The format is JSON, and the same state always gives the same bytes.
//
// Models, tools, briefings and options are not part of the state. So it contains no endpoints and no keys, but it
// does contain the data in the demos.
//
// If a predictor has no signature, or a temperature or a demo that [Load] would refuse, Save returns an error
// that names the predictor, and writes nothing.
func Save(w io.Writer, m any) error {
	if w == nil {
		return errors.New("module: save: the writer is nil")
	}
	s := state{Version: stateVersion, Predictors: signature.Values{}}
	for path, p := range Predictors(m) {
		saved, err := p.state()
		if err != nil {
			return fmt.Errorf("module: save %s: %w", path, err)
		}
		s.Predictors = append(s.Predictors, signature.Value{Name: path, JSON: saved})
	}
	if len(s.Predictors) == 0 {
		return fmt.Errorf("module: save: no Predictors found in %T; export the fields with its modules", m)
	}
	raw, err := indented(s)
	if err != nil {
		return fmt.Errorf("module: save: %w", err)
	}
	_, err = w.Write(raw)
	return err
}

// Load sets the predictors of m to a saved state. Settings that the state does not have, such as a hint, are cleared.
// Load a state before the module is used.
//
// If a part of the state does not fit, Load returns an error that names the predictor, and changes nothing.
// A state fits a module with the same paths, whose predictors have fields with the same names and schemas.
func Load(r io.Reader, m any) error {
	if r == nil {
		return errors.New("module: load: the reader is nil")
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
			return fmt.Errorf("module: load: the state has no predictor %s; it is the state of another module", path)
		}
		if changes[p], err = p.withState(raw); err != nil {
			return fmt.Errorf("module: load %s: %w", path, err)
		}
		known[path] = true
	}
	for _, s := range saved.Predictors {
		if !known[s.Name] {
			return fmt.Errorf("module: load: %T has no predictor %s; it is the state of another module", m, s.Name)
		}
	}
	for p, n := range changes {
		p.Spec, p.System, p.Hint, p.Temperature, p.Demos = n.Spec, n.System, n.Hint, n.Temperature, n.Demos
	}
	return nil
}

func readState(r io.Reader) (s state, err error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return s, err
	}
	var version struct{ Version int } // read first, since the rest depends on it
	if err := json.Unmarshal(raw, &version); err != nil {
		return s, fmt.Errorf("it is not a saved state: %w", err)
	}
	if version.Version != stateVersion {
		return s, fmt.Errorf("the state has version %d, but this program reads version %d", version.Version, stateVersion)
	}
	return s, decodeStrictly(raw, &s)
}

// state returns the state of a predictor as JSON.
func (p *Predictor) state() (json.RawMessage, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	fields, err := fingerprint.Of(p.Spec, p.task)
	if err != nil {
		return nil, err
	}
	instructions := toUTF8(p.Spec.Instructions())
	s := predictorState{
		Signature: fields.Hash(), Fields: fields.Hashes(), Instructions: &instructions, Descriptions: map[string]string{},
		System: toUTF8(p.System), Hint: toUTF8(p.Hint), Temperature: p.Temperature, Demos: p.Demos,
	}
	for _, f := range slices.Concat(p.Spec.Inputs(), p.Spec.Outputs()) {
		if f.Description != "" {
			s.Descriptions[f.Name] = toUTF8(f.Description)
		}
	}
	return indented(s)
}

// withState returns a copy of a predictor with a saved state.
func (p *Predictor) withState(raw json.RawMessage) (*Predictor, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	var s predictorState
	if err := decodeStrictly(raw, &s); err != nil {
		return nil, err
	}
	if s.Instructions == nil { // Save always writes them, even if they are empty
		return nil, errors.New("the instructions are missing")
	}
	fields, err := fingerprint.Of(p.Spec, p.task)
	switch {
	case err != nil:
		return nil, err
	case fields.Hash() != s.Signature:
		return nil, fmt.Errorf("it was saved with another signature: %s", fields.Differ(s.Fields))
	}
	n := p.Clone()
	n.System, n.Hint, n.Temperature, n.Demos = s.System, s.Hint, s.Temperature, s.Demos
	if n.Spec, err = describe(p.Spec.WithInstructions(*s.Instructions), s.Descriptions); err != nil {
		return nil, err
	}
	return n, n.check()
}

// describe returns spec with other descriptions of its fields.
func describe(spec *signature.Spec, descriptions map[string]string) (*signature.Spec, error) {
	for _, name := range slices.Sorted(maps.Keys(descriptions)) {
		if _, known := spec.Field(name); !known {
			return nil, fmt.Errorf("there is a description of %q, which is not a field", name)
		}
	}
	for _, f := range slices.Concat(spec.Inputs(), spec.Outputs()) {
		text := descriptions[f.Name]
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

// indented returns JSON for people and diffs: indented, and without escapes for HTML.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// decodeStrictly decodes one JSON value and refuses unknown members.
func decodeStrictly(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the end")
	}
	return nil
}

// toUTF8 replaces invalid UTF-8, which JSON cannot hold.
func toUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
