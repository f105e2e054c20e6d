// Package esbuild lets the programs of a sandbox be TypeScript, and import packages
// from npm.
//
//	bundler, err := esbuild.New(nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer bundler.Close()
//	folder, err := os.OpenRoot("environment") // with a node_modules in it
//	if err != nil {
//		log.Fatal(err)
//	}
//	out, err := box.Run(ctx, sandbox.Program{
//		Source:   `import {sum} from "lodash-es"; const list: number[] = [1, 2, 3]; sum(list)`,
//		Compiler: bundler.Packages(folder.FS(), []string{"lodash-es"}),
//	})
//
// What a program does wrong, its author reads at his own lines and columns.
//
// # Programs
//
// A program may await and return at top level, and its last expression is its value,
// as in JavaScript; where there is a top-level using, it must return. Types are
// taken out, not checked. Async generators, for await, decorators and using become
// what the engine has. An export before a declaration means nothing; other exports
// are refused.
//
// Import declarations and import() with a literal work; require does not. Imports
// of types, and of names that only types need, are of nothing.
//
// # Packages
//
// A package is found as bundlers for browsers do: by exports, with the conditions
// import or require, module, browser and default; else by browser, module and
// main. What a program imports becomes one bundle, without the parts that nobody
// uses; the bundle is kept for later programs with the same imports, and so is
// what workers have compiled of it. It has the rights of the program that imports
// it, and no others: it may call the tools, too.
//
// Nothing checks what a package means to do. The Node modules are not there: a
// package that needs one cannot be loaded.
//
// # What the engine lacks
//
// Where a package or program uses them, a library brings with it: URL, TextEncoder,
// TextDecoder (of UTF-8), WeakRef, which holds its target, FinalizationRegistry, which
// does nothing, Promise.try, Array.fromAsync, Symbol.asyncIterator, and \p{…} and the
// flag v in patterns, without sets. LIMITATIONS.md says what is still missing.
//
// # Where it runs
//
// esbuild reads what a model or a stranger has written, and its parser overflows the
// stack where that is nested deep. So it runs in workers of its own kind, as cut off
// as those of package sandbox: they open no file. What they ask for, this process
// reads for them, if it is a regular file of a package that programs may import, or
// of one that such a package depends on. A worker that dies, or takes too long, is a
// finding; the next program gets another.
package esbuild
