package packages

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// FS returns the folder node_modules with the current packages, for the bundler. Its content does not change
// before the environment has changed twice. Links that point outside node_modules cannot be followed.
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
