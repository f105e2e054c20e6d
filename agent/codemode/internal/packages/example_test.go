package packages_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

// prepared returns a folder in which npm install lodash-es was run.
func prepared() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "environment"); err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "node_modules", "lodash-es")
	return dir, errors.Join(
		os.MkdirAll(folder, 0o700),
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"dependencies": {"lodash-es": "^4.17.21"}}`), 0o600),
		os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"name": "lodash-es", "version": "4.17.21"}`), 0o600),
	)
}

func Example() {
	ctx := context.Background()
	dir, err := prepared()
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env, err := packages.New(dir, packages.Options{Allow: []string{"lodash-es", "date-*"}})
	if err != nil {
		log.Fatal(err)
	}
	packages, err := env.Installed(ctx, "lodash-es", "date-fns")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range packages {
		fmt.Printf("%s: installed %t, version %q\n", p.Name, p.Installed, p.Version)
	}
	importable, err := env.Importable() // for the bundler, together with env.FS()
	fmt.Println(importable, err)
	// Output:
	// lodash-es: installed true, version "4.17.21"
	// date-fns: installed false, version ""
	// [lodash-es] <nil>
}

// Install rejects packages that are not allowed, and texts that do not name a package of the
// registry, before it starts npm.
func ExampleEnvironment_Install_refused() {
	dir, err := os.MkdirTemp("", "environment")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env, err := packages.New(dir, packages.Options{Allow: []string{"lodash-es"}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = env.Install(context.Background(), []string{"lodash-es@^4", "zod", "lodash-es@npm:evil"})
	fmt.Println(err)
	// Output:
	// package "zod": not on the list of allowed packages: lodash-es
	// package "lodash-es@npm:evil": after the @ must be one version, range or tag, such as 4.17.21, ^4, ~1.2, >=2 or latest; no spaces, addresses, paths or aliases
}
