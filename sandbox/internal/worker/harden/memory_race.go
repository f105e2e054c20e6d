//go:build race

package harden

// MemoryFactor scales memory limits by what the race detector needs.
const MemoryFactor = 4
