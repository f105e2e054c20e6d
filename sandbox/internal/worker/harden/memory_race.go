//go:build race

package harden

// MemoryFactor scales memory limits, because the race detector needs more memory.
const MemoryFactor = 4
