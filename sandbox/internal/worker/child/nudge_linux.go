package child

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// nudged says that a worker is told when there is something to read. A signal is
// free for the runs that are never told.
const nudged = true

// onNudge calls f whenever the host nudges.
func onNudge(f func()) {
	nudges := make(chan os.Signal, 1)
	signal.Notify(nudges, unix.SIGUSR1)
	go func() {
		for range nudges {
			f()
		}
	}()
}
