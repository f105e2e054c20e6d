// Package packages manages environments: folders of npm packages that programs may import.
//
//	env, err := packages.New(e.Dir, packages.Options{Allow: []string{"lodash-es", "@scope/*"}})
//	report, err := env.Install(ctx, []string{"lodash-es@^4"})
//	tree, err := env.FS()
//	compiler := typescript.With(imports.New(tree, names, nil)) // names from env.Importable()
//
// The folder belongs to an environment e of package workspace. Hold e.Lock during Install and Configure,
// so that no other goroutine or process changes or removes the environment in the meantime.
//
// The specs of the packages to install may come from an untrusted source. This package parses them according to rules
// that are stricter than npm's, and requires them to be on the allow list. Before it starts a process, it rejects git,
// file and http specs, aliases, and everything that npm or a shell could interpret differently. It does not use a
// shell. The npm process does not run package scripts, sees only the variables that [Options].Env describes, and reads
// no .npmrc.
//
// npm works on a copy. Once the copy is complete, it atomically replaces the environment. A change that fails, takes
// too long, grows too large or is killed has no effect.
//
// Imported packages' code runs in the sandbox, with the rights of the importing program.
package packages
