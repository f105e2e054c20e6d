// Package workspace stores what a user's programs need between requests: code files that
// are written in pieces, sessions, and environments, which are named folders. It stores
// them in one folder that any number of processes may share, so any of these processes can
// answer the next request.
//
// # Owners and handles
//
// Everything has an owner, which is any string, such as the name of an authenticated user. It
// is identified by a handle, such as report-k3x9ab.js, which is its name with a random
// part. For all other owners the handle does not exist: they get [ErrNotFound], just as for
// a malformed handle or one that was never issued.
//
// [ErrNotFound], [ErrName], [ErrExists] and [ErrLimit] are meant for the user and say
// what to do. Other errors concern the storage folder and do not contain its path.
//
// # Environments of packages
//
// An [Environment] is a name and a folder, whose content package packages
// manages, with [Environment.Lock] held during changes.
//
// # What the storage folder promises
//
// A change that returned without an error survives a crash and a loss of power. If a
// process dies during a change, the change is either complete or has no effect, and its
// locks are released. The changes of one owner are made one after the other; reads do
// not wait. Canceling ctx ends a wait.
//
// Names contain no separators, and symbolic links, pipes and devices in the folder are
// ignored, so that nothing in the folder refers to a place outside of it. The content of an
// environment's folder is not inspected.
//
// The locks are operating system locks: flock, or LockFileEx on Windows. A file system
// that several machines share must support them, as NFS does. Files are not encrypted.
package workspace
