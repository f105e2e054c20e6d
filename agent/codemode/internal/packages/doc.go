// Package packages manages environments: folders of npm packages that programs may import.
//
//	env, err := packages.New("packages", &packages.Options{Allow: []string{"lodash-es", "@scope/*"}})
//	report, err := env.Install(ctx, []string{"lodash-es@^4"})
//	compiler := typescript.With(imports.New(env.FS(), names, nil)) // names from env.Importable()
//
// The folder may belong to an environment of package workspace: packages.New(e.Dir, …) opens the
// folder of a workspace.Environment e. Changes lock the folder themselves. In addition,
// hold e.Lock around Install and Configure, so that no other process removes the
// environment in the meantime. [Environment.Importable] respects the [Settings].
//
// The names of packages to install may come from an untrusted source. This package parses
// them according to rules that are stricter than npm's, and requires them to be on the
// allow list. Before it starts a process, it rejects git, file and http addresses, aliases,
// and everything that npm or a shell could interpret differently. It does not use a shell.
// The npm process runs no scripts of packages, sees only PATH and the variables that
// [Options] name, and reads no .npmrc.
//
// A change is made in a copy, which replaces the environment in one step when it is
// complete. A change that fails, takes too long, grows too large or is killed has no
// effect. Processes that share a folder make their changes one after the other.
//
// The code of imported packages runs in the sandbox, with the rights of the program
// that imports them.
package packages
