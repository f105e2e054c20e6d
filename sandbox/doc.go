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
//			log.Fatal(err) // the sandbox is broken, or the context was canceled
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
// # Isolated or in process
//
// [New] runs programs in child processes with a clean environment and limits on time,
// memory, output and tool calls. Whatever a program does there, its run ends with an
// [Outcome] at most half a second after its limit if the machine has a free processor.
// Other runs are not affected, and the next run works. LIMITATIONS.md lists what is not
// covered on which system.
//
// On Linux the kernel denies a worker access to files, sockets, other processes and
// everything else outside of it. Before its first program, each worker tries to break out
// and reports which attempts succeeded: see [Sandbox.Isolation]. With
// Options.FullIsolation, all of them must fail.
//
// [NewInProcess] runs programs in this process. It stops accidents, not attackers.
// A run may end up to two seconds late, and a built-in function that cannot
// be interrupted keeps running: see [ErrStuck].
//
// # Workers
//
// A worker is the running executable, started again. If argv[0] has a marker and the parent authenticates itself on an
// inherited socket, package initialization turns the process into a worker, and main is not called. The
// packages that are initialized before package sandbox are initialized in workers too, so their initialization should
// only set variables. With Options.Command, workers run another executable.
//
// Options.Workers limits the number of programs that compute at the same time. A program that waits for its calls keeps
// its worker and lets another program compute. Therefore tools may run programs in the same sandbox, and hundreds of
// programs can wait for approval.
//
// # Checks
//
// Before a program runs, the check reports all of the following at once: syntax errors, undeclared names, calls to
// tools that do not exist, literal arguments that violate a tool's schema, constructs that the engine would execute
// incorrectly, and violations of [Options.Rules]. It rejects only code that is certain to fail. If a call has wrong
// arguments but the program handles the call's error before it can change data, the program runs, and the call throws.
// A handler that covers all of the program's calls does not count. The worker parses the program and reports what it
// contains; this process decides whether to run it.
//
// [Outcome.Warnings] lists code that may run without an error but probably does not do what its author intended:
// promises that the program printed, used as text or did not await, and results that it used as if they had a different
// type, each with its position.
//
// # Limits
//
// A run has limits on its total time and its CPU time. [Failure.Kind] says which limit was exceeded. Memory, source,
// output and calls have limits, too: see [Limits]. A worker that exceeded a limit is not used again.
//
// # Sessions
//
// In a [Session], programs see earlier programs' top-level declarations. A session owns no process: it is a record of
// its programs, and the VM is a cache that is rebuilt from the record when necessary, without calling any tool. Large
// inputs are sent to a session once.
//
// # Other languages
//
// Program.Compiler translates other languages into JavaScript. Package sandbox/typescript has a compiler for
// TypeScript. Findings, failures and calls have positions in the text that the author wrote.
//
// # Errors
//
// Program errors are data: [Outcome.Failure] describes them for its author. [Sandbox.Run] returns an error only for
// problems that no program can fix.
package sandbox
