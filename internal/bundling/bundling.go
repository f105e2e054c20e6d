// Package bundling connects sandbox/typescript, which bundles npm packages in a worker, to
// agent/codemode, which finds the packages. Programs that use sandbox/typescript without packages
// do not link the code that finds them.
package bundling

// File is a file in a package.
type File struct {
	Path string `json:"path"` // begins with node_modules/; empty if no file was found
	Text string `json:"text"`
}

// Files provides package files to a worker.
type Files interface {
	// First returns the first of the paths that is a file. If no path is a file, the Path of the
	// result is empty.
	First(paths []string) (File, error)
}

// Snapshot provides the files for one bundle and records which files were read. First is not called concurrently.
// Changed may be called concurrently, after the last call to First.
type Snapshot interface {
	Files
	// Changed reports whether the packages have changed since they were read.
	Changed() bool
}

// Packages finds the packages that programs may import, in the host process. It must be safe for concurrent
// use.
type Packages interface {
	// Refusal returns the reason why a program cannot import a module, and a hint. The
	// message is empty if the module can be imported.
	Refusal(module string) (message, hint string)
	// Names returns the packages that are installed and may be imported.
	Names() []string
	// Snapshot returns the files for one bundle.
	Snapshot() Snapshot
}

// Module is the result of resolving an import.
type Module struct {
	Path   string // the path of its file
	Pure   bool   // whether it has no side effects, so that it can be omitted if nothing in it is used
	Empty  bool   // whether it is an empty module, as package.json can request for browsers
	Absent string // why a module that a package imports does not exist; empty if it exists
}

// Resolver finds the modules that a program and its packages import. It runs in a worker, and
// is not safe for concurrent use.
type Resolver interface {
	// Resolve finds a module that the file importer imports. If importer is "", the program imports the module.
	Resolve(importer, module string, require bool) (Module, error)
	// Text returns the text of a resolved module's file.
	Text(path string) (text string, ok bool)
	// Owns reports whether a file belongs to the package of a module.
	Owns(module, file string) bool
}

// NewResolver makes the resolver of a worker. The init function of the package that finds npm packages sets
// this variable. It is nil in an executable that does not link that package.
var NewResolver func(Files) Resolver
