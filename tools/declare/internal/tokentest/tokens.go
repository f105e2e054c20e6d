// Command tokentest counts o200k tokens of files.
package main

import (
	"fmt"
	"os"

	"github.com/tiktoken-go/tokenizer"
	"github.com/writ-go/writ/tools/declare"
)

func main() {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic(err)
	}
	for _, f := range os.Args[1:] {
		b, _ := os.ReadFile(f)
		ids, _, _ := c.Encode(string(b))
		fmt.Println(f, len(ids), declare.Tokens(string(b)))
	}
}
