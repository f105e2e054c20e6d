// Package optimize improves a module with examples: it searches for better instructions and demos.
package optimize
