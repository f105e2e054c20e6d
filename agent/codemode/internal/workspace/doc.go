// Package workspace stores what a user's programs need between requests: code files that are written in pieces,
// sessions, and environments, which are named folders. Everything is in one folder. Any number of processes may share
// it, and any of them can serve the next request.
//
// # Owners and handles
//
// Each entry has an owner, which is any string, such as the name of an authenticated user. It is identified by a
// handle, such as report-k3x9ab.js, which is its name with a random part. For other owners, the handle does not exist:
// they get [ErrNotFound], as for a malformed handle or one that was never issued.
//
// [ErrNotFound], [ErrName], [ErrExists] and [ErrLimit] are for the user and say
// what to do. Other errors concern the storage folder; they do not contain its path.
//
// # Environments of packages
//
// An [Environment] is a named folder. Package packages manages its content, and its callers
// hold [Environment.Lock] during changes.
//
// # Guarantees
//
// A change that returned without an error survives a crash and a loss of power. If a process dies during a change, the
// change is either complete or has no effect, and the operating system releases its locks. The changes of one owner are
// made one after the other; reads do not wait. Canceling ctx ends a wait.
//
// Names contain no separators, and symbolic links, pipes and devices in the folder are ignored, so that nothing in the
// folder refers to a place outside it. The content of an environment's folder is not inspected.
//
// The locks are operating system locks: flock, or LockFileEx on Windows. A file system that several machines share must
// support them, as NFS does. Files are not encrypted.
package workspace
