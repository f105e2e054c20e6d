//go:build race

package worker

// memoryFactor is what the race detector's shadow costs.
const memoryFactor = 4
