// Package workspace keeps what somebody's programs need from one request to the next:
// code files that are written in pieces, sessions, and environments, which are named
// folders. All of it lies in one storage folder, which any number of processes
// may share, so that whichever of them gets the next request can answer it.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/writ-go/writ/sandbox"
//		"github.com/writ-go/writ/sandbox/workspace"
//	)
//
//	func main() {
//		ctx := context.Background()
//		store, err := workspace.Open("storage", nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer store.Close()
//		box, err := sandbox.New(nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer box.Close()
//		ann := store.Space("ann")
//		session, err := ann.NewSession(ctx)
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, source := range []string{`const rows = [3, 1, 2]`, `rows.toSorted()`} {
//			out, err := ann.RunSession(ctx, session, box, sandbox.Program{Source: source})
//			if err != nil {
//				log.Fatal(err)
//			}
//			fmt.Println(string(out.Value)) // then: [1,2,3]
//		}
//	}
//
// # Owners and handles
//
// Everything belongs to an owner, who is any text: the name of an authenticated
// principal. It is found by its handle, such as report-k3x9ab.js, which is its name
// with a random part. For everybody else there is nothing of that handle, in any
// process: [ErrNotFound], as for a handle that was made up or is none.
//
// [ErrNotFound], [ErrName], [ErrExists] and [ErrLimit] are for whoever asked, and say
// what to do. Other errors are about the storage folder; they don't name its path.
//
// # Environments of packages
//
// An [Environment] is a name and a folder; what is in the folder, package npm sees to:
//
//	env, err := ann.Environment(ctx, "charts") // or NewEnvironment
//	packages, err := npm.New(env.Dir, &npm.Options{Allow: []string{"lodash-es"}})
//	unlock, err := env.Lock(ctx) // so that nobody removes it meanwhile
//	report, err := packages.Install(ctx, []string{"lodash-es"})
//	unlock()
//
// npm takes turns of itself, and has settings of what may be imported. The examples of
// package npm have the whole path, up to a program that imports.
//
// # What the storage folder promises
//
// What has returned without an error outlives a crash and a loss of power. What dies
// in the middle leaves everything as it was before or as it should be, never by half,
// and no lock. Changes of one owner are made one after the other; reading waits for
// nobody. Who waits can be cancelled by ctx.
//
// Nothing leads out of the folder: names have no separators, and links, pipes and
// devices in it are as good as absent. Packages that are put into an environment's
// folder are not looked at.
//
// Locks are those of the system: flock, or LockFileEx on Windows. A file system that
// several machines share must honour them, as NFS does. What is stored is not
// encrypted.
package workspace
