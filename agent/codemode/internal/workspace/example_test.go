package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/sandbox"
)

// A program that is too long for one message is written in pieces and then run.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := workspace.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()

	ann := store.Space("ann")
	file, err := ann.NewFile(ctx, "sum.js", "const list = [1, 2, 3];\n")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := ann.Append(ctx, file.Handle, "list.reduce((a, b) => a + b)\n"); err != nil {
		log.Fatal(err)
	}
	source, _, err := ann.Read(ctx, file.Handle)
	if err != nil {
		log.Fatal(err)
	}
	out, err := box.Run(ctx, sandbox.Program{Source: source})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out.Value))

	_, _, err = store.Space("bob").Read(ctx, file.Handle)
	fmt.Println(errors.Is(err, workspace.ErrNotFound))
	// Output:
	// 6
	// true
}

// Another process continues a session. The tools that the session's programs have called are
// not called again.
func ExampleSpace_RunSession() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var handle string
	for _, source := range []string{`let visits = 1; visits`, `visits += 1; visits`} {
		err := func() error { // stands for a separate process
			store, err := workspace.Open(dir)
			if err != nil {
				return err
			}
			defer store.Close()
			box, err := sandbox.New(nil)
			if err != nil {
				return err
			}
			defer box.Close()
			ann := store.Space("ann")
			if handle == "" {
				if handle, err = ann.NewSession(ctx); err != nil {
					return err
				}
			}
			out, err := ann.RunSession(ctx, handle, box, sandbox.Program{Source: source})
			if err != nil {
				return err
			}
			fmt.Println(string(out.Value))
			return nil
		}()
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 1
	// 2
}
