// Package worker implements the protocol between a host and the child processes in which programs run: frames,
// messages, and the strict decoding of what a child sends.
//
//   - Package host starts workers, runs jobs in them, and trusts nothing they send.
//   - Package child runs in a worker, and hands each job to the engine.
//   - Package harden removes every right that a worker does not need.
//
// The host imports child, child imports harden, and all three import this package.
package worker
