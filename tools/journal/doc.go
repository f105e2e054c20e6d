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
//		j := journal.New()
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
// Within one step of a run, and as long as the process lives, an occurrence of a
// call that is recorded as done or unknown is never dispatched again by a later
// program, unless the host declared the tool idempotent or repeatable, or, if it
// is done, the program names the repeat. What is unknown is not dispatched again
// in later steps of the run either. It is not promised that an effect happens,
// that different arguments mean a different effect, or that a call which
// reported an error had none.
//
// Two calls are the same if they have the same server, tool and arguments, or
// of the arguments those of [tools.Hints].Identity; 10 and 1e1 are one number. A
// step lasts until a program has finished and its value was accepted; its
// attempts are the programs that were written for it.
//
// # The rules
//
// Of a call, the first rule that applies:
//
//  1. A Read gives the recorded value as long as the program's calls are those
//     of an earlier attempt, one by one, and an effect followed there, for which
//     the value may have been used. Otherwise it is made.
//  2. If the same call was made and whether it happened is unknown, it is made
//     again if the tool is idempotent and no later effect on its server could be
//     undone by that, or if it is repeatable. Otherwise the run ends with an
//     [*UnknownError].
//  3. If the same call was done, and this program has not taken its record yet,
//     the record answers it. The call is held, with a [*tools.HoldError], if it
//     was done after another effect on that server which this program has not
//     come to. The program may then say in the call's second argument
//     {same: "E7"}, to take that record, {again: "E7"}, to do it once more, or
//     {distinct: ["E7"]}, that it is another effect; saying the same in a later
//     program repeats nothing. If the step in which it was done was closed by
//     [Journal.Seal], the record answers it in later steps, too.
//  4. Otherwise it is made. So is a call that failed and may have done a part of
//     its work, a call of a tool whose earlier calls had other arguments, and one
//     that was done in an earlier step which was accepted but not sealed.
//
// The journal is in memory, and does not outlive the process.
package journal
