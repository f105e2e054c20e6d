// Package host runs programs in worker processes, which it can kill.
//
//	pool, err := host.NewPool(host.Options{}) // starts one worker, or returns the reason why it cannot
//	defer pool.Close()
//	result, err := pool.Run(ctx, &engine.Job{Source: "1+1"}, engineHost)
//
// A worker is this same executable, started again; see package child. If a run ends
// badly, its worker is killed and replaced, and the caller still gets a typed result.
//
// Pool decides which worker runs a job, instance is one worker, attempt is one job in it, and
// process is the worker's process in the operating system.
package host
