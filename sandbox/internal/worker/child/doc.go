// Package child turns the executable into a worker: a process that hardens itself,
// receives jobs from its host, and hands each of them to an engine.
//
// A worker is started with a special argv[0]. The init of a package calls Hook, which recognizes this argv[0]
// and never returns, so that main does not run.
package child
