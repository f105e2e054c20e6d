// Package state saves what modules have learned as versioned JSON, with the fingerprint of each predictor's signature.
package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/signature"
)

// version is the format version.
const version = 1

// State is a module's state.
type State struct {
	Version    int              `json:"version"`
	Predictors signature.Values `json:"predictors"` // a saved Predictor for each path
}

// Predictor has everything that a predictor can learn.
type Predictor struct {
	Spec, Task   *signature.Spec
	System, Hint string
	Temperature  *float64
	Demos        []conversation.Demo
	Picked       bool // a function picks the demos for each question

	ToolDescriptions map[string]string
	Source           string
}

// predictorState is the JSON of a Predictor, with the fingerprint of its signature.
type predictorState struct {
	Source       string              `json:"source,omitempty"`
	Signature    string              `json:"signature"`
	Fields       map[string]string   `json:"fields,omitempty"` // a hash of each
	Instructions *string             `json:"instructions"`
	Descriptions map[string]string   `json:"descriptions,omitempty"`
	System       string              `json:"system,omitempty"`
	Hint         string              `json:"hint,omitempty"`
	Temperature  *float64            `json:"temperature,omitempty"`
	Picked       bool                `json:"picked,omitempty"`
	Demos        []conversation.Demo `json:"demos,omitempty"`

	ToolDescriptions map[string]string `json:"tool_descriptions,omitempty"`
}

// New returns a state without predictors.
func New() State { return State{Version: version, Predictors: signature.Values{}} }

// Write writes the state. The same state always gives the same bytes.
func (s State) Write(w io.Writer) error {
	raw, err := indented(s)
	if err != nil {
		return fmt.Errorf("module: save: %w", err)
	}
	_, err = w.Write(raw)
	return err
}

// Read reads a state that Write wrote.
func Read(r io.Reader) (s State, err error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return s, err
	}
	var found struct{ Version int } // read first, since the rest depends on it
	if err := json.Unmarshal(raw, &found); err != nil {
		return s, fmt.Errorf("not a saved state: %w", err)
	}
	if found.Version != version {
		return s, fmt.Errorf("the state has version %d, but this program reads version %d", found.Version, version)
	}
	return s, jsonvalue.Strictly(raw, &s)
}

// Save returns the JSON of a predictor.
func (p Predictor) Save() (json.RawMessage, error) {
	fields, err := FieldsOf(p.Spec, p.Task)
	if err != nil {
		return nil, err
	}
	instructions := toUTF8(p.Spec.Instructions())
	s := predictorState{
		Signature: fields.Hash(), Fields: fields.Hashes(), Instructions: &instructions,
		Descriptions: map[string]string{}, System: toUTF8(p.System), Hint: toUTF8(p.Hint), Temperature: p.Temperature,
		Demos: p.Demos, Picked: p.Picked, Source: toUTF8(p.Source), ToolDescriptions: p.ToolDescriptions,
	}
	for _, f := range slices.Concat(p.Spec.Inputs(), p.Spec.Outputs()) {
		if f.Description != "" {
			s.Descriptions[f.Name] = toUTF8(f.Description)
		}
	}
	return indented(s)
}

// Load replaces the learned parts of the predictor with those in the JSON that Save returned.
func (p *Predictor) Load(raw json.RawMessage) error {
	var s predictorState
	if err := jsonvalue.Strictly(raw, &s); err != nil {
		return err
	}
	if s.Instructions == nil { // Save always writes them, even if they are empty
		return errors.New("the instructions are missing")
	}
	fields, err := FieldsOf(p.Spec, p.Task)
	switch {
	case err != nil:
		return err
	case fields.Hash() != s.Signature:
		return fmt.Errorf("the state was saved with a different signature: %s", fields.Differ(s.Fields))
	}
	p.System, p.Hint, p.Temperature, p.Demos = s.System, s.Hint, s.Temperature, s.Demos
	p.Picked, p.ToolDescriptions, p.Source = s.Picked, s.ToolDescriptions, s.Source
	p.Spec, err = describe(p.Spec.WithInstructions(*s.Instructions), s.Descriptions)
	return err
}

// describe returns spec with different field descriptions.
func describe(spec *signature.Spec, descriptions map[string]string) (*signature.Spec, error) {
	for _, name := range slices.Sorted(maps.Keys(descriptions)) {
		if _, known := spec.Field(name); !known {
			return nil, fmt.Errorf("the state describes %q, which is not a field", name)
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

// toUTF8 replaces invalid UTF-8, which JSON cannot hold.
func toUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
