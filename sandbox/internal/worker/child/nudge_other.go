//go:build !linux

package child

// nudged says that a worker is told when there is something to read. Where it
// isn't, somebody reads during each run.
const nudged = false

func onNudge(func()) {}
