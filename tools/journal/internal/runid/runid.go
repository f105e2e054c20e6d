// Package runid checks the IDs of runs.
package runid

import (
	"errors"
	"regexp"
)

var valid = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Check returns an error if the ID of a run is invalid.
func Check(run string) error {
	if !valid.MatchString(run) {
		return errors.New("the ID is invalid; use at most 128 letters, digits, periods, hyphens and underscores, and " +
			"begin with a letter or digit")
	}
	return nil
}
