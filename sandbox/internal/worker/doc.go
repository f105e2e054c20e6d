// Package worker runs programs in child processes that can be killed. It is
// both halves of the pipe: the pool in the host, which trusts nothing that comes
// back, and the loop in the child, which hands each job to the engine.
//
//	pool, err := worker.NewPool(worker.Options{}) // starts one worker, or says why it can't
//	defer pool.Close()
//	res, err := pool.Run(ctx, &engine.Job{Source: "1+1"}, host)
//
// A child is this same executable, started again. Its package init sees that it
// is meant ([Hook]), gives up what it doesn't need (harden), and serves; main
// never runs. Where a run ends badly, the child is thrown away and another is
// warmed; what the caller gets is a typed result all the same.
//
// From top to bottom: pool.go and backoff.go (who runs where), session.go (which
// worker has whose VM), worker.go and run.go (one child, one run, seen from the
// host), obituary.go (what it died of), spawn*.go (how a child starts and ends),
// outbox.go (how it is written to without waiting), frame.go (what passes between
// the two), decode.go and canonical.go (how that is read, and not believed). In the
// child: hook.go, attach*.go, harden*.go (where every wall goes), landlock_linux.go,
// seccomp_linux.go and calls_linux*.go (the system calls that are left),
// probe_linux.go (whether the walls hold) and isolation.go (what is told of it),
// watch.go (where the system caps no memory), serve.go, call.go and grown.go.
package worker
