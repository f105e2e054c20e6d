package npm_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	npm "github.com/writ-go/writ/agent/codemode/packages"
	"github.com/writ-go/writ/agent/codemode/workspace"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
)

// A program imports the packages of a user's named environment.
func Example_program() {
	ctx := context.Background()
	storage, err := os.MkdirTemp("", "storage")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(storage) }()
	store, err := workspace.Open(storage, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	env, err := store.Space("ann").NewEnvironment(ctx, "words") // later: Environment(ctx, "words")
	if err != nil {
		log.Fatal(err)
	}
	packages, err := npm.New(env.Dir, &npm.Options{Allow: []string{"plural"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := install(ctx, env); err != nil {
		log.Fatal(err)
	}

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
	names, err := packages.Importable()
	if err != nil {
		log.Fatal(err)
	}
	out, err := box.Run(ctx, sandbox.Program{
		Source:   `import {plural} from "plural"; const n: number = 3; plural(n, "apple")`,
		Compiler: bundler.Packages(packages.FS(), names),
	})
	if err != nil {
		log.Fatal(err)
	}
	if out.Failure != nil {
		fmt.Println(out.Failure)
		return
	}
	fmt.Println(names, string(out.Value))
	// Output:
	// [plural] "3 apples"
}

// install writes the files that packages.Install(ctx, []string{"plural"}) would download,
// and holds the environment's lock, as a caller of Install should.
func install(ctx context.Context, env workspace.Environment) error {
	unlock, err := env.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	folder := filepath.Join(env.Dir, "node_modules", "plural")
	return errors.Join(
		os.MkdirAll(folder, 0o700),
		os.WriteFile(filepath.Join(env.Dir, "package.json"), []byte(`{"dependencies": {"plural": "^1.0.0"}}`), 0o600),
		os.WriteFile(filepath.Join(folder, "package.json"),
			[]byte(`{"name": "plural", "version": "1.0.0", "main": "./plural.js"}`), 0o600),
		os.WriteFile(filepath.Join(folder, "plural.js"),
			[]byte(`export const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s")`), 0o600),
	)
}
