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
// The journal in Options.Store records the run, as it does for [agent.Start]. Neither the module nor its programs run
// in the code of the workflow, which only starts activities:
//
//   - Advance continues the run until it waits for calls or for replies of models, and returns what it waits for. A
//     worker keeps the run in memory until the next Advance. Another worker repeats the run from the journal.
//   - Call calls a tool. If the call may have an effect, it is attempted once. If the activity does not complete,
//     because a worker is lost or a timeout has passed, the outcome of the call is unknown, as
//     after a crash of the process: the run waits until somebody says whether the call was made, and its program goes
//     on. Calls whose class is Read or Idempotent are attempted again.
//   - Ask sends a request to a model, in the process that has the run in memory. Temporary errors are retried.
//
// The workflow keeps the results of calls until the journal has recorded them. If the journal has a call without an
// outcome, and the workflow does not have the call, then the call was not made.
//
// The first Advance, and one after a worker was lost, goes to [Agent.TaskQueue]. The others, and the requests to
// models, go to a task queue of the worker that has the run in memory.
//
// [Agent.Decide] answers a call that waits for a decision of [policy.Approve] with a nil Approver, and a call whose
// outcome is unknown. Until then, the run needs no worker.
//
// Values of more than 64 KB are stored in Options.Objects, and the workflow's history has references to them. A
// workflow continues as new after 1,000 activities, or when the server suggests it.
//
// # Restrictions
//
// Policies, modules that are tools, and tools that are not in Options.Tools run within Advance. If the process ends
// during a call of such a tool, its outcome is unknown, as in a run without Temporal. Timeouts of policies and of
// modules include the time that activities wait for a worker.
//
// Do not reset a workflow, and do not start it with a retry policy or a cron schedule: the new execution does not
// know which calls the old one has made.
//
// A worker that stops interrupts its calls, and the outcomes of effects are unknown then. Set WorkerStopTimeout in its
// options to let them end.
//
// [policy.Approve]: https://pkg.go.dev/github.com/writ-go/writ/tools/policy#Approve
package temporal
