// Package typescript compiles TypeScript programs for a sandbox.
//
//	compiler, err := typescript.New(nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer compiler.Close()
//	out, err := box.Run(ctx, sandbox.Program{
//		Source:   `const list: number[] = [1, 2, 3]; list.length`,
//		Compiler: compiler,
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
// Imports of types, and of names that only types use, are removed. Programs cannot import
// anything else. In code mode (package agent/codemode), they can import npm packages: the
// packages that a program imports become one bundle without unused parts, which is cached
// for later programs with the same imports. The bundle has exactly the rights of the program
// that imports it, so it may call the tools, too.
//
// # What the engine lacks
//
// If a program or package uses them, the compiler adds URL, TextEncoder, TextDecoder
// (UTF-8 only), WeakRef (which keeps its target), FinalizationRegistry (which does
// nothing), Promise.try, Array.fromAsync, Symbol.asyncIterator, and \p{…} and the v flag
// in regular expressions, without set notation. LIMITATIONS.md lists what is still missing.
//
// # Where it runs
//
// esbuild parses code from models and from untrusted packages, and its parser overflows the
// stack if the code is nested deeply. It therefore runs in worker processes, which are as
// isolated as the workers of package sandbox and cannot open files. If a worker dies or takes
// too long, the program gets a finding, and the next program gets a new worker.
package typescript
