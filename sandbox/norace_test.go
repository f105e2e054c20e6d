//go:build !race

package sandbox_test

// raceDetector says that this test was built with it.
const raceDetector = false
