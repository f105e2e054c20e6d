package optimize

import (
	"github.com/writ-go/writ/module"
)

// Candidate is a version of the module.
type Candidate struct {
	ID      int    `json:"id"`                // 0 is the module as it was given
	Parents []int  `json:"parents,omitempty"` // the candidates that it was made from
	By      string `json:"by"`                // what made it, such as "GEPA: reflection on Sort"
	Why     string `json:"why,omitempty"`     // in words, if the maker has a reason

	// Predictors are the states by the paths of the predictors.
	Predictors map[string]State `json:"predictors"`

	// Scores are the scores on Val, by index; NaN where the candidate was not evaluated. Score is their weighted
	// mean, or NaN if some are missing. The JSON of NaN is null.
	Scores []float64 `json:"scores,omitempty"`
	Score  float64   `json:"score"`

	// Flags are what a person should look at, such as examples that were copied into the instructions.
	Flags []string `json:"flags,omitempty"`
}

// State is what a candidate sets in a predictor.
type State struct {
	Instructions string        `json:"instructions"`
	Demos        []module.Demo `json:"demos,omitempty"`

	// ToolDescriptions replaces the descriptions of tools, by the paths of their bindings.
	ToolDescriptions map[string]string `json:"tool_descriptions,omitempty"`
}
