// Package evaluate measures how well a module answers a set of examples.
package evaluate
