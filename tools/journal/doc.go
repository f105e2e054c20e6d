// Package journal records what a run's programs did, so that a program which is
// written again after a failure does not do it again.
//
//	package main
//
//	import (
//		"context"
//		"encoding/json"
//		"fmt"
//
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
//		j := journal.New(nil)
//		for range 2 { // a program that fails after its call, and the next, which makes it again
//			run := set.Dispatcher(j.Attempt())
//			call := run.Issue(tools.Call{Args: json.RawMessage(`{"to":"ann"}`)}, 0)
//			result, err := call.Perform(ctx)
//			fmt.Println(string(result), err, "sent:", sent, "from the record:", call.Recorded)
//		}
//		j.Accept()
//	}
//
// # The promise
//
// Within one run, and as long as the process lives, an occurrence of a call that is
// recorded as done is never performed again by a later program, and one whose
// outcome is uncertain is never repeated unless the program names it; if it is
// unknown, not even then. Exempt are tools that the host declared idempotent or
// repeatable, or whose server claims that they read or are idempotent. It is not
// promised that an effect happens, or that two calls with different arguments are
// different effects.
//
// # Terms
//
// A step lasts until a program has finished and its answer was accepted; a program
// that ends without an answer ends the step, too. Its attempts are the programs that
// were written for it.
//
// Two calls have the same key if they have the same server, tool and arguments, or
// of the arguments those of [tools.Hints].Identity. A call whose arguments a policy
// has changed has two keys, as requested and as performed, and either counts.
//
// A call is uncertain if it [Failed], for a tool that reports an error may have done
// its work (unless [tools.Hints].ErrorsAreFinal says otherwise), or if it is [Unknown].
//
// # The rules
//
// They decide what becomes of each call, in the order in which the program makes
// them. The first rule that applies decides; "unconsumed" is what the program under
// way has neither called nor taken the record of.
//
//  1. A Read is performed, always. So that what a program looks at is the world as it
//     is, reads are never answered from the record, and never held. What counts as a
//     Read says [tools.Binding.ReplayClass].
//  2. The same call is unknown: it is performed if the tool is idempotent and no other
//     effect on its server followed; otherwise Options.Reconcile is asked, or else the
//     run ends with an [*UnknownError].
//  3. The same call is done in this step and unconsumed: the record answers it. It is
//     held if it was done after another effect on that server that is unconsumed, or
//     if a later program, or this one, did something on that server since: what was
//     opened, closed and opened again must not end closed. (Then an idempotent tool is
//     performed instead.)
//  4. The same call failed, in whatever step: it is held, unless the tool is idempotent
//     or its errors are final, or the program names it.
//  5. The tool was called with other arguments by an earlier program of the step, and
//     that call is done or uncertain, and unconsumed: the call is held, unless the tool
//     is repeatable, or idempotent and no read gave another value than before.
//  6. The same call is done in an earlier step: it is held, with the exceptions of rule 5.
//  7. Otherwise it is performed.
//
// A held call is not made, and ends the program, with a [*tools.HoldError]. The next
// program answers in the second argument of the call:
//
//   - {same: "E7"} takes the record of E7.
//   - {again: "E2"} or {again: ["E2", "E5"]} does it once more, on purpose. Each name
//     counts for calls with its own key, and once: the same words in a later program
//     repeat nothing.
//   - {distinct: "all"} says that the call is none of those that are done, and
//     {distinct: ["E2"]} that it is not E2, which is uncertain.
//   - {fresh: true} says that an unclassified tool only reads. It counts for the tool
//     for the rest of the run.
//
// The journal is in memory, and does not outlive the process.
package journal
