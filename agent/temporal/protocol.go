package temporal

import (
	"encoding/json"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools"
)

// job is a call or a request to a model that a run wants made.
type job struct {
	ID     string `json:"id"`               // of a call: its journal's run and its entry, r-1/1c9b2f04d7aa:E7
	Ask    bool   `json:"ask,omitempty"`    // it is a request to a model
	Effect string `json:"effect,omitempty"` // of a call, as the other fields: the ID of its effect
	Tool   string `json:"tool,omitempty"`   // the tool's path
	Args   value  `json:"args"`
	Digest string `json:"digest,omitempty"` // of the arguments

	Queue    string        `json:"queue"`
	Timeout  time.Duration `json:"timeout"` // of an attempt
	Attempts int32         `json:"attempts"`
}

// result is the end of a call.
type result struct {
	Number  int    `json:"number"` // of the result in the workflow, from 1
	ID      string `json:"id"`     // of the job, as Digest is
	Digest  string `json:"digest"`
	Outcome value  `json:"outcome"`
	Lost    string `json:"lost,omitempty"` // why there is no Outcome
}

// outcome is the answer of a tool.
type outcome struct {
	Result json.RawMessage  `json:"result,omitempty"`
	Error  *tools.ToolError `json:"error,omitempty"`
	Fatal  string           `json:"fatal,omitempty"` // the error that ends the run
}

// state is what a workflow knows about its run. It is all that the next execution of the workflow gets.
type state struct {
	Input     value    `json:"input"`
	Module    *value   `json:"module,omitempty"` // the state of its predictors; nil for that of the agent's module
	Began     bool     `json:"began,omitempty"`
	Results   []result `json:"results,omitempty"` // that may not be recorded in the journal
	Answers   []Answer `json:"answers,omitempty"`
	Queue     string   `json:"queue,omitempty"`     // of the worker that has the run in memory
	Finished  int      `json:"finished,omitempty"`  // the number of jobs that have ended
	Delivered int      `json:"delivered,omitempty"` // how many of them the run knows of
}

// advance is the input of the activity that makes a run go on.
type advance struct {
	Run     string   `json:"run"`
	Input   *value   `json:"input,omitempty"` // nil if the run has begun
	Module  *value   `json:"module,omitempty"`
	Running []string `json:"running,omitempty"`
	Results []result `json:"results,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
	Room    int      `json:"room"` // for so many more jobs
}

// progress is what that activity returns.
type progress struct {
	State agent.RunState `json:"state"`
	ending
	Error    string        `json:"error,omitempty"`
	Kind     string        `json:"kind,omitempty"` // of the error
	Waiting  []waitingCall `json:"waiting,omitempty"`
	Unused   []string      `json:"unused,omitempty"` // the calls whose answers are needed again: the run did not go on
	Jobs     []job         `json:"jobs,omitempty"`
	Recorded []int         `json:"recorded,omitempty"` // the numbers of the results that are not needed any more
	Queue    string        `json:"queue,omitempty"`
	Busy     bool          `json:"busy,omitempty"` // there may be more jobs soon
	Poll     time.Duration `json:"poll,omitempty"` // if it is busy: the worker keeps the run in memory for longer
}

// ending is what a run leaves.
type ending struct {
	Output     value `json:"output"`
	Trajectory value `json:"trajectory"` // also of a run without an output
}

// askInput is the input of the activity that makes a request to a model.
type askInput struct {
	Run string `json:"run"`
	ID  string `json:"id"` // of the job

	Module *value `json:"module,omitempty"`
}

// Answer is a decision on a call that waits.
type Answer struct {
	Call     string         `json:"call"` // the ID of the [agent.Waiting]
	Decision agent.Decision `json:"decision"`

	// Object is the key in Options.Objects of the Args, or of the result in the Outcome, if they are large. The
	// Decision does not have them then. [Agent.Decide] sets it.
	Object string `json:"object,omitempty"`
}

// waitingCall is a call that waits for an [Answer].
type waitingCall struct {
	agent.Waiting       // without its Args, and without the arguments and results of the calls that it resembles
	Whole         value `json:"whole"`
}
