// Package temporal runs modules as workflows of Temporal, for runs that must survive any machine. The module, its tools
// and its policies are the same as in a run in one process.
//
//	a, err := temporal.New("bot", bot, &temporal.Options{Store: store, Objects: objects, Tools: set})
//	…
//	go a.Worker(ctx, client, worker.Options{})            // on each machine
//	run, err := a.Start(ctx, client, "r-1", agent.Task{Task: "Buy milk."})
//	…
//	err = a.Result(ctx, run, &answer)
//
// # How a run proceeds
//
// The journal in Options.Store records the run, as it does for [agent.Start]. Neither the module nor its programs run in
// the code of the workflow, which only starts activities:
//
//   - Advance makes the run go on until it waits for calls and for replies of models, and returns what it waits for. A
//     worker keeps the run in memory until the next Advance. Another worker repeats the run from the journal.
//   - Call makes a call to a tool. A call that may have an effect is attempted once. If the activity does not end, because
//     a worker is lost or a timeout has passed, the outcome of the call is unknown: see the package
//     [github.com/writ-go/writ/tools/journal]. Calls whose class is Read or Idempotent are attempted again.
//   - Ask makes a request to a model, in the process that has the run in memory. Temporary errors are tried again.
//
// The workflow keeps the results of calls until the journal has recorded them. So a call that the journal records as
// dispatched, but of which the workflow knows nothing, was not made, whenever a worker ends.
//
// The first Advance and every takeover go to [Agent.TaskQueue]. All others, and the requests to models, go to a task queue
// of the worker that has the run in memory.
//
// A call that waits for a decision of [policy.Approve] with a nil Approver, or whose outcome is unknown, is answered with
// [Agent.Decide]. Until then, the run needs no worker.
//
// Values of more than 64 KB are not part of the workflow's history. They are in Options.Objects. A workflow continues as
// new after 1,000 activities, or when the server suggests it.
//
// # What else to know
//
// Policies and tools that are not in Options.Tools run within Advance, and so do modules that are tools. If the process
// ends during a call of such a tool, its outcome is unknown, as in a run without Temporal. Timeouts of policies and of
// modules include the time that activities wait for a worker.
//
// Do not reset a workflow, and do not start it with a retry policy: the new execution would not know which calls the old
// one has made.
//
// [policy.Approve]: https://pkg.go.dev/github.com/writ-go/writ/tools/policy#Approve
package temporal
