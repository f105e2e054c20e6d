package sandbox_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/writ-go/writ/sandbox"
)

// A host that must not run programs without isolation requires it, and gets an error at the start
// if it is not available.
func ExampleSandbox_Isolation() {
	box, err := sandbox.New(&sandbox.Options{FullIsolation: true})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	has, _, _ := strings.Cut(box.Isolation(), ", no files")
	fmt.Println(has)
	// Output: isolation: a process of its own, a cap on memory
}
