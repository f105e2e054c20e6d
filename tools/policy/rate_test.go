package policy_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

func threeTools(t *testing.T) *tools.Set {
	return newSet(t, tool("mail.send", tools.Hints{}, echo), tool("mail.list", tools.Hints{}, echo),
		tool("refund", tools.Hints{}, echo))
}

// The first calls of a period are made at once. Each further call waits for its turn.
func TestRateWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := threeTools(t).With(policy.Rate(5, 5*time.Second, 0))
		start := time.Now()
		for i := range 10 {
			equal(t, "the end", told(call(t.Context(), set, "refund", `{}`)), `{}`)
			if took := time.Since(start); took != max(0, time.Duration(i-4)*time.Second) {
				t.Errorf("call %d was made after %v", i, took)
			}
		}
	})
}

func TestRateRefuses(t *testing.T) {
	t.Parallel()
	const full = "denied: at most 1 calls in 1m0s are allowed; the next call is possible in 1m0s"
	for _, test := range []struct {
		name string
		rate tools.Policy
		want []string // of two calls of each tool
	}{
		{"no wait", policy.Rate(1, time.Minute, -1), []string{"{}", full, full, full, full, full}},
		{"too long a wait", policy.Rate(1, time.Minute, 59*time.Second),
			[]string{"{}", full, full, full, full, full}},
		{"a wait", policy.Rate(1, time.Minute, time.Minute),
			[]string{"{}", "{}", "{}", "{}", "{}", "{}"}},
		{"of a server", policy.If(policy.Tools("mail.*"), policy.Rate(1, time.Minute, -1)),
			[]string{"{}", full, full, full, "{}", "{}"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			for i, path := range []string{"mail.send", "mail.list", "refund"} {
				for j := range 2 { // in two runs, each with its own set
					equal(t, test.name, told(call(t.Context(), threeTools(t).With(test.rate), path, `{}`)), test.want[2*i+j])
				}
			}
		})
	}
}

// A call that is canceled while it waits does not count.
func TestRateEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := threeTools(t).With(policy.Rate(1, time.Minute, 0))
		start := time.Now()
		equal(t, "first", told(call(t.Context(), set, "refund", `{}`)), `{}`)
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		const want = "denied: at most 1 calls in 1m0s are allowed; the next call is possible in 1m0s"
		equal(t, "its time is too short", told(call(ctx, set, "refund", `{}`)), want)
		if took := time.Since(start); took != 0 {
			t.Errorf("it waited %v although the deadline was too early", took)
		}
		given, giveUp := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, giveUp)
		equal(t, "given up", told(call(given, set, "refund", `{}`)), want)
		equal(t, "last", told(call(t.Context(), set, "refund", `{}`)), `{}`)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the last call was made after %v", took)
		}
	})
}

func TestRateConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := threeTools(t).With(policy.Rate(10, time.Second, 0))
		start := time.Now()
		var group sync.WaitGroup
		for i := range 60 {
			path := []string{"mail.send", "mail.list", "refund"}[i%3]
			group.Go(func() { equal(t, "the end", told(call(t.Context(), set, path, `{}`)), `{}`) })
		}
		group.Wait()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("60 calls, 10 of them at once, took %v", took)
		}
	})
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]tools.Policy{
		"fatal: policy: Rate needs a positive number of calls and a positive period; got 0 and 1s": policy.
			Rate(0, time.Second, 0),
		"fatal: policy: Rate needs a positive number of calls and a positive period; got 1 and 0s": policy.
			Rate(1, 0, 0),
		"fatal: policy: Timeout needs a positive time, not 0s": policy.Timeout(0),
		"fatal: policy: Retry options must not be negative: Tries -1, Delay 0s, MaxDelay 0s": policy.Retry(
			&policy.RetryOptions{Tries: -1}),
		"fatal: policy: Redact needs Secrets; check the error that NewSecrets returned":      policy.Redact(nil),
		"fatal: policy: DenySecrets needs Secrets; check the error that NewSecrets returned": policy.DenySecrets(nil),
	} {
		equal(t, "the end", told(call(t.Context(), threeTools(t).With(p), "refund", `{}`)), want)
	}
}
