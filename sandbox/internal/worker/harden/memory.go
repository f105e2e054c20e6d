//go:build !race

package harden

// memoryFactor scales the budget of memory; see its other value.
const MemoryFactor = 1
