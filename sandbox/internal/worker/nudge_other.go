//go:build !linux

package worker

// nudged says that a worker is told when there is something to read. Where it
// isn't, somebody reads during each run.
const nudged = false

func (*child) nudge() {}

func onNudge(func()) {}
