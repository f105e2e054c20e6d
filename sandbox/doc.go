// Package sandbox checks and runs JavaScript programs that nobody has reviewed,
// usually because a model has just written them.
//
//	package main
//
//	import (
//		"context"
//		"errors"
//		"fmt"
//		"log"
//
//		"github.com/writ-go/writ/sandbox"
//	)
//
//	func main() {
//		box, err := sandbox.New(nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer box.Close()
//		out, err := box.Run(context.Background(), sandbox.Program{
//			Source: `numbers.map(n => n * n)`,
//			Inputs: map[string]any{"numbers": []int{1, 2, 3}},
//		})
//		if err != nil {
//			log.Fatal(err) // the sandbox is broken, or the context was cancelled
//		}
//		var squares []int
//		if err := out.Decode(&squares); err != nil {
//			if f := (*sandbox.Failure)(nil); errors.As(err, &f) {
//				fmt.Println("the program is wrong:", f) // line, column, frame
//			}
//			return
//		}
//		fmt.Println(squares)
//	}
//
// # Two tiers
//
// [New] runs programs in child processes with a clean environment and limits on
// time, memory, output and tool calls. Whatever a program does there, its run ends
// with an [Outcome] soon after the limit: half a second, if the machine has a
// processor to spare. Other runs do not notice, and the next one works.
// LIMITATIONS.md says what is not covered on which system.
//
// On Linux the kernel keeps a worker from files, sockets, other processes and
// whatever else has authority. Before its first program each worker tries these
// things itself and reports which succeeded: see [Sandbox.Isolation].
// Options.MinIsolation demands what must have been prevented.
//
// [NewInProcess] runs them in this process. It stops accidents, not attackers.
// There, a run may end up to two seconds late, and a built-in function that cannot
// be interrupted keeps running: see [ErrStuck].
//
// # Workers
//
// A worker is the running executable, started again. Package initialisation takes
// it over when argv[0] carries a marker and the parent proves itself on an
// inherited socket; main is never reached. Initialisation of packages that sort
// before this one and do not import it happens in workers too, so it should not do
// more than set variables; Options.Command avoids even that.
//
// # What is checked
//
// Before anything runs, all at once: syntax, names that nothing declares, calls of
// tools that do not exist, literal arguments that violate a tool's schema,
// constructs that the engine would get wrong, and what [Options.Rules] forbid. Only
// what must fail is refused. The worker parses and reports; this process judges.
//
// What need not fail, but hardly does what its author means, is in [Outcome.Warnings]:
// promises that the program printed, used as text, or did not await, each with its call
// and line; and text that it used as an object, where the source shows that.
//
// # Limits
//
// A run is bounded in time from start to end, in the time that it computes, and in
// the time that it waits for tools and timers: three limits, told apart in
// [Failure.Kind] and in [Outcome]. Memory, source, output and calls have theirs. See
// [Limits]. A worker that hit a limit is not used again.
//
// # Sessions
//
// A [Session] runs programs that see each other's top-level declarations. It owns no
// process: it is the record of its programs, and the VM is a cache that is rebuilt
// from it when need be, without calling any tool. Its inputs go there once, so that
// they may be large. [Determinism] fixes time and chance.
//
// # Other languages
//
// Program.Compiler makes JavaScript of what a program is written in. Package
// sandbox/esbuild has one for TypeScript, and for imports of npm packages. Findings,
// failures and calls name the places of the author's own text.
//
// # Whose fault
//
// What the program did wrong is data: [Outcome.Failure], worded for its author.
// An error of [Sandbox.Run] is what no program can mend.
package sandbox
