package schema

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A match that had to wait for the processor, long or too long, is no slow one; and what
// takes too long once more does.
func TestUndisturbed(t *testing.T) {
	t.Parallel()
	tooLong := errors.New("it takes too long")
	for _, c := range []struct {
		first, second time.Duration
		err           error // of the first
		tries         int
		took          time.Duration
	}{
		{time.Millisecond, 0, nil, 1, time.Millisecond},
		{time.Second, time.Millisecond, nil, 2, time.Millisecond},
		{time.Second, time.Millisecond, tooLong, 2, time.Millisecond},
		{20 * time.Millisecond, 30 * time.Millisecond, nil, 2, 20 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			matched, took, err := undisturbed(func() (bool, error) {
				if tries++; tries == 2 {
					time.Sleep(c.second)
					return true, nil
				}
				time.Sleep(c.first)
				return c.err == nil, c.err
			})
			if !matched || took != c.took || err != nil || tries != c.tries {
				t.Errorf("%s and then %s: %t in %s, %v, by %d tries", c.first, c.second, matched, took, err, tries)
			}
		})
	}
	if _, _, err := undisturbed(func() (bool, error) { return false, tooLong }); !errors.Is(err, tooLong) {
		t.Errorf("got %v", err)
	}
}
