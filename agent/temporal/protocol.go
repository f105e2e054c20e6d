package temporal

import (
	"encoding/json"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools"
)

// job is a call or a request to a model that a run wants made.
type job struct {
	ID     string `json:"id"`               // the ID of the journal's entry in its run: r-1/1c9b2f04d7aa:E7
	Effect string `json:"effect,omitempty"` // the ID of the effect of a call
	Ask    bool   `json:"ask,omitempty"`    // it is a request to a model
	Name   string `json:"name,omitempty"`   // the tool's path
	Digest string `json:"digest,omitempty"` // a hash of the arguments
	Data   Value  `json:"data"`             // the arguments

	Queue    string        `json:"queue"`
	Timeout  time.Duration `json:"timeout"` // of an attempt
	Attempts int32         `json:"attempts"`
}

// result is the end of a job.
type result struct {
	Number int    `json:"number"`         // of the result in the workflow, from 1
	ID     string `json:"id"`             // of the job
	Digest string `json:"digest"`         // of the job
	Data   Value  `json:"data"`           // an outcome
	Lost   string `json:"lost,omitempty"` // why there is no Data
	Late   bool   `json:"late,omitempty"` // a time limit was reached
}

// lost reports whether the worker that made a call has ended.
func (r result) lost() bool { return r.Lost != "" && !r.Late }

// state is what a workflow knows about its run. It is all that the next execution of the workflow gets.
type state struct {
	Input   Value    `json:"input"`
	Run     string   `json:"run,omitempty"`
	Began   bool     `json:"began,omitempty"`
	Results []result `json:"results,omitempty"` // that may not be recorded in the journal
	Answers []Answer `json:"answers,omitempty"`
	Queue   string   `json:"queue,omitempty"` // of the worker that has the run in memory

	Finished  int `json:"finished,omitempty"`  // the number of results
	Delivered int `json:"delivered,omitempty"` // the number of the last result that an Advance had
}

// askInput is the input of the activity that makes a request to a model.
type askInput struct {
	Run string `json:"run"`
	ID  string `json:"id"` // of the job
}

// advance is the input of the activity that makes a run go on.
type advance struct {
	Run     string   `json:"run"`
	Input   *Value   `json:"input,omitempty"` // nil if the run has begun
	Running []string `json:"running,omitempty"`
	Results []result `json:"results,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
	Room    int      `json:"room"` // for so many more jobs
}

// progress is what that activity returns.
type progress struct {
	State    agent.RunState `json:"state"`
	Output   *Value         `json:"output,omitempty"`
	Error    string         `json:"error,omitempty"`
	Waiting  []Waiting      `json:"waiting,omitempty"`
	Jobs     []job          `json:"jobs,omitempty"`
	Recorded []int          `json:"recorded,omitempty"` // the numbers of the results that are not needed any more
	Queue    string         `json:"queue,omitempty"`
	Busy     bool           `json:"busy,omitempty"` // the run may want more by itself
}

// outcome is the end of a call that a tool has answered.
type outcome struct {
	Result json.RawMessage  `json:"result,omitempty"`
	Error  *tools.ToolError `json:"error,omitempty"`
	Fatal  string           `json:"fatal,omitempty"` // the error that ends the run
}

// Answer is a [agent.Decision] on a call.
type Answer struct {
	Call     string         `json:"call"` // the ID of the Waiting
	Decision agent.Decision `json:"decision"`
}

// Waiting is a call that waits for an [Answer].
type Waiting struct {
	// Waiting lacks the Args, and the arguments and results of the entries in Resembles.
	agent.Waiting

	// Call has all of the [agent.Waiting].
	Call Value `json:"call"`
}
