//go:build cgo

package worker

// cgo says that the runtime can't reach all threads.
const cgo = true
