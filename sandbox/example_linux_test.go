package sandbox_test

import (
	"fmt"
	"log"

	"github.com/writ-go/writ/sandbox"
)

// A host that must not run programs without isolation requires it, and gets an error at the start
// if it is not available.
func ExampleSandbox_Isolation() {
	box, err := sandbox.New(&sandbox.Options{
		MinIsolation: sandbox.Isolation{OwnProcess: true, NoFiles: true, NoNetwork: true},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	found := box.Isolation()
	fmt.Println(found.OwnProcess, found.NoFiles, found.NoNetwork)
	// Output: true true true
}
