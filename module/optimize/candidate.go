package optimize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

// Candidate is a version of the module.
type Candidate struct {
	ID      int    `json:"id"`                // its index in Result.Candidates; -1 until it is accepted
	Parents []int  `json:"parents,omitempty"` // the accepted candidates that it was made from
	By      string `json:"by"`                // what made it, such as "GEPA: reflection on Sort"

	// Scores are the scores on the examples of Val, in their order, and Score is their weighted mean. They are set when
	// the candidate is accepted. An example on which the candidate fails has the score 0; Failed is the number of these
	// examples.
	Score  float64   `json:"score"`
	Scores []float64 `json:"scores,omitempty"`
	Failed int       `json:"failed,omitempty"`

	// Spent is what the search had used when the candidate was accepted. It may differ between searches with the same
	// result, such as those with different Options.Workers.
	Spent Spent `json:"-"`

	states map[string]*state // by the paths of the predictors
	scope  string            // keeps its runs apart from those of other candidates with the same content
}

// Instructions returns the instructions of the predictor with the path, or "" if the module has no such predictor.
func (c *Candidate) Instructions(path string) string {
	if s := c.states[path]; s != nil {
		return s.Instructions
	}
	return ""
}

// state is the part of a predictor that a candidate sets.
type state struct {
	Instructions string        `json:"instructions"`
	Demos        []module.Demo `json:"demos,omitempty"`

	// ToolDescriptions are notes about tools, in addition to the tools' own descriptions, by the paths of the tools.
	// See module.Predictor.
	ToolDescriptions map[string]string `json:"tool_descriptions,omitempty"`

	pick pick // nil to show all demos
}

// pick is the type of module.Predictor.PickDemos, which picks the demos for a question.
type pick = func(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]module.Demo, error)

// score sets the scores from outcomes on all of Val.
func (c *Candidate) score(outcomes []outcome, val []item) {
	c.Scores, c.Failed = make([]float64, len(val)), 0
	sum, weights := 0.0, 0.0
	for i, o := range outcomes {
		c.Scores[i] = o.Score.Value
		sum, weights = sum+o.Score.Value*val[i].Weight, weights+val[i].Weight
		if o.Err != nil {
			c.Failed++
		}
	}
	c.Score = sum / weights
}

// copyStates returns a copy that can be edited without changing the original.
func copyStates(states map[string]*state) map[string]*state {
	c := map[string]*state{}
	for path, s := range states {
		c[path] = &state{s.Instructions, slices.Clone(s.Demos), maps.Clone(s.ToolDescriptions), s.pick}
	}
	return c
}

// runs returns the name of the runs of a candidate in the log.
func (c *Candidate) runs() string { return c.scope + " " + c.content() }

// content returns a hash of the states of a candidate.
func (c *Candidate) content() string {
	hash := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(c.states)) {
		fmt.Fprintf(hash, "%q %s\n", path, c.states[path].content())
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// content describes a state: states with the same content lead to the same prompts.
func (s *state) content() string {
	raw, err := json.Marshal(s) // an error if a demo has invalid JSON, so that every run with it will fail
	return fmt.Sprintf("%s %v %t", raw, err, s.pick != nil)
}

// apply sets the state in a predictor.
func (s *state) apply(p *module.Predictor) {
	if p.Spec.Instructions() != s.Instructions {
		p.Spec = p.Spec.WithInstructions(s.Instructions)
	}
	p.Demos, p.ToolDescriptions = slices.Clone(s.Demos), maps.Clone(s.ToolDescriptions)
	if s.pick != nil {
		p.PickDemos = s.pick
	}
}

// stateOf returns the current state of a predictor.
func stateOf(p *module.Predictor) *state {
	return &state{
		Instructions: p.Spec.Instructions(), Demos: slices.Clone(p.Demos),
		ToolDescriptions: maps.Clone(p.ToolDescriptions),
	}
}
