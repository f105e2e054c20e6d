// Command isolated runs a program in a sandbox that must be isolated in full, and
// prints by what. It is built in every way in which Go builds programs.
package main

import (
	"context"
	"fmt"
	"log"
	_ "net" // with cgo, where there is one

	"github.com/writ-go/writ/sandbox"
)

func main() {
	box, err := sandbox.New(&sandbox.Options{FullIsolation: true})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	out, err := box.Run(context.Background(), sandbox.Program{Source: `
		const big = Array.from({length: 1e5}, (_, i) => "x" + i);
		await sleep(5);
		big.join("").length`})
	if err != nil {
		log.Fatal(err)
	}
	var n int
	if err := out.Decode(&n); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n)
	fmt.Println(box.Isolation())
}
