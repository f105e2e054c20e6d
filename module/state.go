package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/writ-go/writ/module/internal/state"
	"github.com/writ-go/writ/signature"
)

// Save writes the learned state of a module, or of any struct that contains modules. For each of its [Predictors], by
// path, the state has the instructions, the field descriptions, the System prompt, the Hint, the Temperature, the
// Demos, the ToolDescriptions and the Source. The format is JSON, and the same state always gives the same bytes.
//
// Models, tools, briefings and options are not part of the state. So the state contains no endpoints and no keys, but
// it does contain the data in the demos.
//
// If a predictor has no signature, or a temperature or a demo that [Load] would reject, Save returns an error that
// names the predictor, and writes nothing.
func Save(w io.Writer, m any) error {
	if w == nil {
		return errors.New("module: save: the writer is nil")
	}
	s := state.New()
	for path, p := range Predictors(m) {
		saved, err := p.state()
		if err != nil {
			return fmt.Errorf("module: save %s: %w", path, err)
		}
		s.Predictors = append(s.Predictors, signature.Value{Name: path, JSON: saved})
	}
	if len(s.Predictors) == 0 {
		return fmt.Errorf("module: save: no Predictors found in %T; export the fields that hold its modules", m)
	}
	return s.Write(w)
}

// Load sets the predictors of m to a saved state. Settings that the state does not have, such as a hint, are cleared.
// Load a state before the module is used.
//
// If any part of the state does not fit, Load returns an error that names the predictor, and changes nothing. A state
// fits a module whose predictors have the same paths, and fields with the same names and schemas.
func Load(r io.Reader, m any) error {
	if r == nil {
		return errors.New("module: load: the reader is nil")
	}
	saved, err := state.Read(r)
	if err != nil {
		return fmt.Errorf("module: load: %w", err)
	}
	changes := map[*Predictor]*Predictor{}
	known := map[string]bool{}
	for path, p := range Predictors(m) {
		raw, ok := saved.Predictors.Get(path)
		if !ok {
			return fmt.Errorf("module: load: the state has no predictor %s; the state is for a different module", path)
		}
		if changes[p], err = p.withState(raw); err != nil {
			return fmt.Errorf("module: load %s: %w", path, err)
		}
		known[path] = true
	}
	for _, s := range saved.Predictors {
		if !known[s.Name] {
			return fmt.Errorf("module: load: %T has no predictor %s; the state is for a different module", m, s.Name)
		}
	}
	for p, n := range changes {
		p.Spec, p.System, p.Hint, p.Temperature, p.Demos = n.Spec, n.System, n.Hint, n.Temperature, n.Demos
		p.ToolDescriptions, p.Source = n.ToolDescriptions, n.Source
	}
	return nil
}

// learned returns a predictor's learned state.
func (p *Predictor) learned() state.Predictor {
	return state.Predictor{
		Spec: p.Spec, Task: p.task, System: p.System, Hint: p.Hint, Temperature: p.Temperature,
		Picked: p.PickDemos != nil, ToolDescriptions: p.ToolDescriptions, Source: p.Source,
		Demos: internalDemos(p.Demos),
	}
}

// state returns a predictor's learned state as JSON, or an error if Load would reject it.
func (p *Predictor) state() (json.RawMessage, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p.learned().Save()
}

// withState returns a copy of the predictor with a saved state.
func (p *Predictor) withState(raw json.RawMessage) (*Predictor, error) {
	if p.Spec == nil {
		return nil, errNoSignature
	}
	s := p.learned()
	if err := s.Load(raw); err != nil {
		return nil, err
	}
	if s.Picked && p.PickDemos == nil {
		return nil, errors.New("the state was saved with PickDemos; set PickDemos before Load, for example to the " +
			"function that optimize.Nearest returns")
	}
	n := p.Clone()
	n.ToolDescriptions, n.Source = s.ToolDescriptions, s.Source
	n.Spec, n.System, n.Hint, n.Temperature = s.Spec, s.System, s.Hint, s.Temperature
	n.Demos = exportedDemos(s.Demos)
	return n, n.check()
}
