package packages

import (
	"cmp"
	"time"
)

// Limits are the options of an environment with limits for a test. Zero fields mean the usual limits.
type Limits struct {
	Allow, Env  []string
	Npm         string
	Timeout     time.Duration
	MaxPackages int
	MaxBytes    int64
}

// Limited is like New.
func Limited(dir string, l Limits) (*Environment, error) {
	e, err := New(dir, Options{Allow: l.Allow, Env: l.Env})
	if err == nil {
		e.limits = limits{cmp.Or(l.Npm, e.npm), cmp.Or(l.Timeout, e.timeout), cmp.Or(l.MaxPackages, e.packages),
			cmp.Or(l.MaxBytes, e.bytes)}
	}
	return e, err
}
