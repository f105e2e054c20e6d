package imports

import "io/fs"

// Limited returns packages of which a program may import only a few files.
func Limited(root fs.FS, allow []string, maxFiles int) *Packages {
	p := New(root, allow, nil)
	p.maxFiles = maxFiles
	return p
}
