package docs_test

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/policy"
)

// This example is shown in tenants.md.
func Example_tenants() {
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	base := shop()
	for _, who := range []string{"ada", "bob"} {
		theirs := policy.Argument("path", func(p string) bool { return strings.HasPrefix(path.Clean(p), who+"/") })
		mine := base.With(policy.Deny(policy.And(policy.Tools("read_file"), policy.Not(theirs)), "not a file of "+who))

		for _, file := range []string{"ada/notes", "bob/../ada/notes"} {
			out, err := box.Run(context.Background(), sandbox.Program{Source: `await read_file({path: "` + file + `"})`, Tools: mine})
			if err != nil {
				panic(err)
			}
			fmt.Println(who, file, out.Failure == nil)
		}
	}
	// Output:
	// ada ada/notes true
	// ada bob/../ada/notes true
	// bob ada/notes false
	// bob bob/../ada/notes false
}
