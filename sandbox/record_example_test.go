package sandbox_test

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/sandbox"
)

// A session outlives its process: its record is saved line by line and restored.
func ExampleSandbox_RestoreSession() {
	ctx := context.Background()
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	session := box.NewSession(nil)
	var record []byte // usually a file
	for _, source := range []string{`let total = 1`, `total += 2`} {
		before := session.Len()
		if _, err := session.Run(ctx, sandbox.Program{Source: source}); err != nil {
			log.Fatal(err)
		}
		if record, err = session.AppendRecord(record, before); err != nil {
			log.Fatal(err)
		}
	}

	session, _, err = box.RestoreSession(record)
	if err != nil {
		log.Fatal(err)
	}
	out, err := session.Run(ctx, sandbox.Program{Source: `total`})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out.Value))
	// Output: 3
}
