//go:build !race

package worker

// memoryFactor scales the budget of memory; see its other value.
const memoryFactor = 1
