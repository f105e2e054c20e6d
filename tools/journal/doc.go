// Package journal records a run's calls, so that a program that is rewritten after a failure does not repeat the
// effects of earlier programs.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//
//		"github.com/writ-go/writ/sandbox"
//		"github.com/writ-go/writ/tools"
//		"github.com/writ-go/writ/tools/journal"
//	)
//
//	type Mail struct {
//		To string `json:"to"`
//	}
//
//	func main() {
//		ctx, sent := context.Background(), 0
//		set, err := tools.NewSet(ctx, tools.Func("send", "Send a mail.",
//			func(context.Context, Mail) (string, error) { sent++; return fmt.Sprint("mail ", sent), nil }, nil))
//		if err != nil {
//			panic(err)
//		}
//		box, err := sandbox.New(nil)
//		if err != nil {
//			panic(err)
//		}
//		defer box.Close()
//		j := journal.New(nil)
//		for range 2 { // a program that fails after its call, and a rewritten one that repeats the call
//			send := sandbox.Program{Source: `await send({to: "ann"})`, Tools: set, Attempt: j.Attempt()}
//			out, err := box.Run(ctx, send)
//			if err != nil {
//				panic(err)
//			}
//			fmt.Println(string(out.Value), "sent:", sent, "recorded:", out.Calls[0].Recorded)
//		}
//		j.Accept()
//	}
//
// # The promise
//
// The promise holds within one run and an intact journal: while the process lives, or as long as the log exists. If an
// occurrence of a call is recorded as done, no later program performs that occurrence again. A call that failed is not
// repeated unless the program names it, and a call whose outcome is unknown is not repeated even if the program names
// it. The promise does not cover tools that the
// host declared idempotent or repeatable, or whose server claims that they only read or are idempotent. The journal
// does not promise that an effect happens, or that two calls with different arguments are different effects.
//
// # Terms
//
// A step lasts until a program has finished and its answer was accepted. A program that ends
// without an answer also ends the step. The programs written for a step are its attempts.
//
// Two calls have the same key if they have the same server, tool and arguments. If [tools.Hints].Identity is set, only
// the arguments that it names count. A call whose arguments a policy has changed has two keys, as requested and as
// performed, and either matches.
//
// A call is uncertain if its state is [StateFailed] or [StateUnknown]: a tool that reports an error may
// have done its work, unless [tools.Hints].ErrorsAreFinal is set.
//
// An attempt consumes an entry if it makes the call, or uses its recorded result.
//
// # The rules
//
// The rules decide what happens to each call, in the order in which the program makes its
// calls. The first rule that applies decides.
//
//  1. A Read is always performed: a program sees the current state of the world. Reads are
//     never answered from the journal and never held. [tools.Binding.ReplayClass] decides which tools count as Read.
//  2. The same call is unknown: it is performed if the tool is idempotent and no other
//     effect on its server followed. Otherwise, Options.Reconcile is called. If it is not
//     set, the run ends with an [*UnknownError].
//  3. The same call is done in this step and not consumed: its recorded result is returned. The call is held if it
//     was made after another effect on that server that is not consumed, or if a later program, or this one, has had
//     an effect on that server since: a program that calls open, close and open must not leave the thing closed. In
//     these cases, an idempotent tool is performed instead. An unclassified tool that is not Destructive is also held
//     if another tool on its server may have had an effect since, in any program: the tool may only read, and the
//     recorded result may be outdated. Calls to unclassified tools count as such effects; reads and calls to
//     repeatable tools do not.
//  4. The same call failed in any step: it is held, unless the tool is idempotent, its
//     errors are final, or the program names the entry. Even then, the call is held once more if the server has tools
//     that read, but nothing that was read since the failure can show the effect: no list of the server was read to
//     its end, and either nothing was read or some list is known to be read only in part.
//  5. An earlier program of the step called the tool with other arguments, and that call is
//     done or uncertain and not consumed: the call is held, unless the tool is repeatable,
//     or idempotent and no read has returned a different value than before.
//  6. The same call is done in an earlier step: it is held, with the same exceptions as in rule 5.
//  7. Otherwise, the call is performed.
//
// The error of a call that failed has its ID ([tools.ToolError]), so that one program can catch the error, look, and
// repeat the call.
//
// A held call is not made. It ends the program with a [*tools.HoldError]. The next program
// answers in the second argument of the call:
//
//   - {same: "E7"} returns the recorded result of E7.
//   - {again: "E2"} or {again: ["E2", "E5"]} repeats the calls on purpose. Each entry applies
//     once, to a call with its own key: the same argument in a later program repeats nothing.
//   - {distinct: "all"} says that the call differs from all entries that are done, and
//     {distinct: ["E2"]} that it differs from E2, which is uncertain.
//   - {fresh: true} says that an unclassified tool only reads. It applies to the tool for the
//     rest of the run.
//
// With [Options].OnRepeat, the host or a person answers instead, and the program goes on.
//
// # Conversations
//
// A conversation has one journal; [Journal.Turn] begins each turn. A call that was done in an earlier turn neither
// answers a call nor holds it, because to ask again is a new wish, and a second argument cannot name it. A call of an
// earlier turn that is uncertain stays open, and rules 2 and 4 apply to it. If it turns out to be done after its turn
// has ended, rule 6 applies once more, in the turn in which that became known.
//
// # Agents that call agents
//
// If a tool runs a module (see module.Tool), that run has a journal of its own, which belongs to the call of the tool. If
// the call has no result and is repeated, with the same key or by {again: "E2"}, the next run goes on with that journal:
// see [Journal.Continue]. So the promise holds across the levels. A call whose run failed is failed if the outcome of
// all effects of the run is known, and otherwise unknown.
//
// # Durable runs
//
// [New] keeps the journal in memory. [Open] also writes everything that happens to a [Log]: an effect is durable before
// it is dispatched, and [Journal.Sync] makes its result durable before the run does anything else that is visible. A
// run whose process has ended is repeated from its log, from the start. The module and its programs do the same as
// before, and every call, reads included, gets its recorded result. Then the run goes on. If a program does not do what
// was recorded, the run ends with a [*DivergedError], and nothing has been done. If the module has another program than
// the recorded one, all that was recorded counts as done by earlier programs, and the rules above apply.
//
// A call that was in progress when the process ended is made again, with the same [tools.EffectID], if it is a Read, if
// its tool is repeatable, or if its tool is idempotent and no other call that may change its server was issued after
// it. Otherwise, the run ends with an [*UnknownError]. Options.Reconcile is not called, because the process may have been
// paused, and may make the call later. Find out what has happened, record it with [Journal.Resolve], and repeat the run.
// [Read] lists the entries of a log without repeating the run.
//
// Nothing is undone by itself. [Journal.Rollback] undoes the effects of a run whose tools have a Revert.
package journal
