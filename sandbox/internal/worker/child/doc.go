// Package child turns the executable into a worker: a process that hardens itself,
// receives jobs from its host, and hands each of them to an engine.
//
// A worker is started with a special argv[0]. Hook, called by a package's init,
// recognizes it and never returns, so that main does not run.
package child
