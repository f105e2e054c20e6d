package models_test

import (
	"errors"
	"testing"

	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/models"
)

func TestSpentAsText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		of   interface{ String() string }
		want string
	}{
		{budget.Spent{}, "0 calls, 0 input and 0 output tokens"},
		{budget.Spent{Calls: 1, InputTokens: 2, OutputTokens: 3, ReasoningTokens: 1, Cost: 1.23456, Cached: 1, Estimated: 2,
			Unpriced: 3},
			"1 call, 2 input and 3 output tokens, a cost of 1.235 without 3 calls that have no price, 1 call answered by a " +
				"cache, the tokens of 2 calls estimated"},
		{budget.Spent{Calls: 3, Unpriced: 3}, "3 calls, 0 input and 0 output tokens"},
		{models.StoreStats{Hits: 2, Misses: 1}, "1 sent to the model, 2 answered by the store"},
		{models.StoreStats{Hits: 2, Misses: 1, Err: errors.New("disk full")},
			"1 sent to the model, 2 answered by the store, replies not stored: disk full"},
	} {
		if got := test.of.String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
