// Package esbuild compiles TypeScript programs, which may import packages from npm, for
// a sandbox.
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
// Findings have the lines and columns of the TypeScript source.
//
// # Programs
//
// A program may await and return at top level, and its last expression is its value, as in
// JavaScript. A program with a top-level using declaration must return its value. Types are
// removed, not checked. Async generators, for await loops, decorators and using
// declarations are translated. An export before a declaration is ignored; other exports are
// rejected.
//
// Import declarations and import() with a literal work; require does not. Imports of
// types, and of names that only types use, are removed.
//
// # Packages
//
// Packages are resolved as for browsers: by the exports field of package.json, with the
// conditions import or require, module, browser and default, or else by the browser, module
// and main fields. The packages that a program imports become one bundle without unused
// parts, which is cached for later programs with the same imports. The bundle has exactly
// the rights of the program that imports it, so it may call the tools, too.
//
// Packages are not checked for malicious code. The modules of Node.js are not available;
// a package that needs one cannot be loaded.
//
// # What the engine lacks
//
// If a package or program uses them, the bundle includes URL, TextEncoder, TextDecoder
// (UTF-8 only), WeakRef (which keeps its target), FinalizationRegistry (which does
// nothing), Promise.try, Array.fromAsync, Symbol.asyncIterator, and \p{…} and the v flag
// in regular expressions, without set notation. LIMITATIONS.md lists what is still missing.
//
// # Where it runs
//
// esbuild parses code from models and from untrusted packages, and its parser overflows the
// stack if the code is nested deeply. It therefore runs in worker processes, which are as
// isolated as the workers of package sandbox and cannot open files. This process reads
// files for them, if they are regular files of a package that programs may import or of its
// dependencies. If a worker dies or takes too long, the program gets a finding, and the
// next program gets a new worker.
package esbuild
