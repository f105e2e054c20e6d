package evaluate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/internal/lines"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature/schema"
)

// header is the first line of a results file. It identifies the module that was evaluated.
type header struct {
	Version int    `json:"evaluation"`
	Module  string `json:"module"` // the Go type of the module
	Models  string `json:"models"` // the models of the predictors, by path
	State   string `json:"state"`  // a hash of what module.Save writes, and of the code of a module.Program
	Samples int    `json:"samples"`
}

func headerOf[In, Out any](m module.Module[In, Out], samples int) (header, error) {
	h := header{Version: 1, Module: fmt.Sprintf("%T", m), Samples: samples}
	sum := sha256.New()
	if p, compiled := m.(*module.Program[In, Out]); compiled {
		io.WriteString(sum, p.Script.Code) //nolint:errcheck // a hash returns no errors
	}
	var names []string
	for path, p := range module.Predictors(m) {
		names = append(names, fmt.Sprintf("%s: %q", path, models.CapabilitiesOf(p.Model).Model))
	}
	if h.Models = strings.Join(names, ", "); len(names) > 0 {
		if err := module.Save(sum, m); err != nil {
			return h, fmt.Errorf("evaluate: cannot compare the state of the module with the results file: %w", err)
		}
	}
	h.State = hex.EncodeToString(sum.Sum(nil)[:8])
	return h, nil
}

// openResults opens or creates a results file, which has a header and then one result on each line. It calls each for
// every result in the file.
func openResults(path string, want header, each func(r Result) error) (*lines.File, error) {
	empty := true
	file, err := lines.Open(path, []string{`{"evaluation":`}, errNotResults, func(n int, line []byte) error {
		if empty = false; n == 1 {
			return checkHeader(line, want)
		}
		var r Result
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		return each(r)
	})
	if err != nil {
		return nil, fmt.Errorf("evaluate: cannot use the results file %s: %w; set Options.Results to another file",
			path, err)
	}
	if empty {
		if err := file.Append(want); err != nil {
			return nil, errors.Join(fmt.Errorf("evaluate: cannot write to %s: %w", path, err), file.Close())
		}
	}
	return file, nil
}

var errNotResults = errors.New("it is not a results file")

func checkHeader(line []byte, want header) error {
	var got header
	switch err := json.Unmarshal(line, &got); {
	case err != nil || got.Version == 0:
		return errNotResults
	case got.Version != want.Version:
		return errors.New("it was written by another version of Writ")
	case got.Module != want.Module:
		return fmt.Errorf("its results come from a module of type %s, not %s", got.Module, want.Module)
	case got.Models != want.Models:
		return fmt.Errorf("its results come from other models: %s, not %s", got.Models, want.Models)
	case got.State != want.State:
		return errors.New("its results come from a module with other instructions, demos or code")
	case got.Samples != want.Samples:
		return fmt.Errorf("its results come from an evaluation with %d as Options.Samples, not %d",
			got.Samples, want.Samples)
	}
	return nil
}

// write appends a result to the results file, if there is one.
func (e *evaluation[In, Out]) write(r Result) error {
	if e.log == nil {
		return nil
	}
	line, err := encode(r)
	if err == nil {
		err = e.log.Append(line)
	}
	if err != nil {
		return fmt.Errorf("evaluate: cannot write to %s: %w", e.Results, err)
	}
	return nil
}

// resume opens the results file and adds its results to the evaluation. A run with an error will be repeated. If only
// the metric failed, only the metric will be called again.
func (e *evaluation[In, Out]) resume(m module.Module[In, Out]) error {
	if e.Results == "" {
		return nil
	}
	header, err := headerOf(m, e.Samples)
	if err != nil {
		return err
	}
	type place struct {
		id     string
		sample int
	}
	places := make(map[place]int, len(e.results))
	for i, r := range e.results {
		places[place{r.ID, r.Sample}] = i
	}
	e.log, err = openResults(e.Results, header, func(r Result) error {
		i, found := places[place{r.ID, r.Sample}]
		if !found {
			return fmt.Errorf("it has a result of example %q, which is not in the set of examples", r.ID)
		}
		if want := e.results[i]; !canonical.Equal(r.Inputs, want.Inputs) || !canonical.Equal(r.Want, want.Want) {
			return fmt.Errorf("example %q has changed since the result was written", r.ID)
		}
		if r.failed() && (r.Got == nil || schema.Unmarshal(r.Got, new(Out)) != nil) {
			return nil // the example is run again
		}
		r.Group, r.Weight = e.results[i].Group, e.results[i].Weight
		if e.ended[i] = !r.failed(); r.NoAnswer {
			r.Score = module.Score{Value: e.NoAnswer}
		}
		if e.DropTrajectories && e.ended[i] {
			r.Trajectory = nil
		}
		e.results[i] = r
		return nil
	})
	return err
}
