//go:build !cgo

package worker

const cgo = false
