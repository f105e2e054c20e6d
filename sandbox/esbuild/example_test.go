package esbuild_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
)

func Example() {
	bundler, err := esbuild.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bundler.Close()
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
		out, err := box.Run(context.Background(), sandbox.Program{Source: source, Compiler: bundler})
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

// Programs import the allowed packages from a folder with node_modules. This one is in
// memory; os.OpenRoot opens a folder that links cannot escape.
func ExampleBundler_Packages() {
	bundler, err := esbuild.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bundler.Close()
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	folder := fstest.MapFS{
		"node_modules/plural/package.json": {Data: []byte(`{"main": "./plural.js"}`)},
		"node_modules/plural/plural.js": {Data: []byte(`export const plural = (n, word) => n + " " + word + (n === ` +
			`1 ? "" : "s")`)},
	}
	compiler := bundler.Packages(folder, []string{"plural"})
	for _, source := range []string{
		"import {plural} from 'plural';\nconst count: number = 3;\nplural(count, 'apple')",
		"import fs from 'node:fs';\nfs.readFileSync('/etc/passwd')",
	} {
		out, err := box.Run(context.Background(), sandbox.Program{Source: source, Compiler: compiler})
		if err != nil {
			log.Fatal(err)
		}
		if out.Failure != nil {
			fmt.Println(out.Failure)
			continue
		}
		fmt.Println(string(out.Value))
	}
	// Output:
	// "3 apples"
	// line 1, column 16: the Node module "node:fs" is not available (there is no file system, network or process; use the declared tools)
	// 1 | import fs from 'node:fs';
	//   |                ^
}
