package typescript_test

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
)

func Example() {
	compiler, err := typescript.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer compiler.Close()
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	for _, source := range []string{
		`interface Point { x: number; y: number }
const points: Point[] = [{x: 3, y: 4}, {x: 6, y: 8}];
points.map(p => Math.hypot(p.x, p.y))`,
		`interface Point { x: number; y: number }
const point: Point = {x: 3, y: 4};
point.z.toFixed(1)`,
	} {
		out, err := box.Run(context.Background(), sandbox.Program{Source: source, Compiler: compiler})
		if err != nil {
			log.Fatal(err)
		}
		if out.Failure != nil {
			fmt.Println(out.Failure) // has the line of the TypeScript source
			continue
		}
		fmt.Println(string(out.Value))
	}
	// Output:
	// [5,10]
	// line 3, column 7: TypeError: Cannot read properties of undefined or null (reading 'toFixed')
	// 3 | point.z.toFixed(1)
	//   |       ^
}
