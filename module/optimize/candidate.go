package optimize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

	// Score is the weighted mean of Scores, which are the scores on Val, by index. They are set when the candidate is
	// accepted. Examples on which it failed have the score 0; Failed is their number.
	Score  float64   `json:"score"`
	Scores []float64 `json:"scores,omitempty"`
	Failed int       `json:"failed,omitempty"`

	states map[string]*state // by the paths of the predictors
}

// state is what a candidate sets in a predictor.
type state struct {
	Instructions string        `json:"instructions"`
	Demos        []module.Demo `json:"demos,omitempty"`

	// ToolDescriptions say more about tools, by the paths of their bindings, in addition to the tools' own
	// descriptions; see module.Predictor.
	ToolDescriptions map[string]string `json:"tool_descriptions,omitempty"`

	pick pick // or nil
}

// pick picks the demos for a question; see module.Predictor.
type pick = func(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]module.Demo, error)

// score sets the scores from the outcomes on all of Val.
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

// content returns a hash of what a candidate sets.
func (c *Candidate) content() string {
	picked := []string{}
	for _, path := range slices.Sorted(maps.Keys(c.states)) {
		if c.states[path].pick != nil {
			picked = append(picked, path)
		}
	}
	raw, err := json.Marshal(struct {
		Predictors map[string]*state
		Picked     []string
	}{c.states, picked})
	if err != nil { // a demo that is not JSON, which no run would accept either
		raw = []byte(err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// same reports whether two states lead to the same prompts.
func (s *state) same(o *state) bool {
	a, _ := json.Marshal(s)
	b, _ := json.Marshal(o)
	return string(a) == string(b) && (s.pick == nil) == (o.pick == nil)
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

// stateOf returns the state of a predictor as it is.
func stateOf(p *module.Predictor) *state {
	return &state{
		Instructions: p.Spec.Instructions(), Demos: slices.Clone(p.Demos),
		ToolDescriptions: maps.Clone(p.ToolDescriptions),
	}
}
