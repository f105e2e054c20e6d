//go:build !linux

package host

// resident returns 0: how much memory the worker occupies is unknown.
func (w *instance) resident() int64 { return 0 }
