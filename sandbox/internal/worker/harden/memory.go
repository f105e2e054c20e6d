//go:build !race

package harden

// MemoryFactor scales memory limits. It is greater than 1 under the race detector.
const MemoryFactor = 1
