// Package npm keeps environments: folders of npm packages that programs may
// import, once [github.com/writ-go/writ/sandbox/esbuild] has bundled them.
//
//	env, err := npm.New("packages", &npm.Options{Allow: []string{"lodash-es", "@scope/*"}})
//	report, err := env.Install(ctx, []string{"lodash-es@^4"})
//	compiler := bundler.Packages(env.FS(), names) // names from env.Importable()
//
// The folder may be one that package workspace keeps for an owner, under a name:
// npm.New(e.Dir, …) makes an [Environment] of a workspace.Environment e. Installing
// takes turns by a lock of its own, whoever holds which; hold e.Lock around Install,
// Remove and Configure as well, so that nobody removes the environment meanwhile.
// [Environment.Importable] heeds the [Settings].
//
// Who names a package to install need not be trusted. A name is taken apart here,
// by npm's own rules and stricter ones, and must be on the allow-list; git, file
// and http addresses, aliases and everything that npm or a shell could read as
// something else are refused before a process starts. There is no shell. The npm
// process runs no script of any package, has nothing of the host's environment but
// the path and what [Options] name, and reads nobody's .npmrc.
//
// An installation happens in a copy, which takes the place of what was there in
// one step once it is whole. One that fails, takes too long, grows too large or is
// killed changes nothing. Processes that share a folder take turns.
//
// What packages do once they are imported is an affair of the sandbox: their code
// runs there, with no more rights than the program that imports them.
package npm
