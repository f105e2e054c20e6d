//go:build race

package harden

// memoryFactor is what the race detector's shadow costs.
const memoryFactor = 4
