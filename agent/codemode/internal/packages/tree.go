package packages

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// FS returns the current packages, which are in the folder node_modules, for the bundler. It does not change
// when packages are installed later, at least until the second change after the call. Links
// that point outside node_modules cannot be followed.
func (e *Environment) FS() (fs.FS, error) {
	root, err := e.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sub, err := root.OpenRoot(modules) // its finalizer closes it
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return embed.FS{}, nil
	case err != nil:
		return nil, fmt.Errorf("packages: opening an environment: %w", err)
	}
	return sub.FS(), nil
}
