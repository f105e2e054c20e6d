package schema

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestMeasure checks that only a match that is slow twice counts as slow.
func TestMeasure(t *testing.T) {
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
			matched, took, err := measure(func() (bool, error) {
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
	if _, _, err := measure(func() (bool, error) { return false, tooLong }); !errors.Is(err, tooLong) {
		t.Errorf("got %v", err)
	}
}
