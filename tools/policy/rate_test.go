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

// Each of ten consecutive calls waits for its turn.
func TestRateWaits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		burst  int
		second time.Duration // until the second call was made
		last   time.Duration
	}{{"all at once", 0, 0, 5 * time.Second}, {"evenly", 1, time.Second, 9 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			set := threeTools(t).With(policy.Rate(5, 5*time.Second, &policy.RateOptions{Burst: test.burst}))
			start := time.Now()
			for i := range 10 {
				equal(t, "the end", told(call(t.Context(), set, "refund", `{}`)), `{}`)
				if took := time.Since(start); i == 1 && took != test.second || i == 9 && took != test.last {
					t.Errorf("%s: call %d was made after %v", test.name, i, took)
				}
			}
		})
	}
}

func TestRateRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		o    *policy.RateOptions
		want []string // of two calls of each tool
	}{
		{"by tool", &policy.RateOptions{MaxWait: -1}, []string{
			"{}", "denied: mail.send may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"{}", "denied: mail.list may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"{}", "denied: refund may be called 1 times in 1m0s; the next call is possible in 1m0s"}},
		{"by server", &policy.RateOptions{MaxWait: -1, Scope: policy.PerServer}, []string{
			"{}", "denied: the tools of mail may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"denied: the tools of mail may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"denied: the tools of mail may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"{}", "denied: the tools without a namespace may be called 1 times in 1m0s; the next call is possible in 1m0s"}},
		{"overall", &policy.RateOptions{MaxWait: 59 * time.Second, Scope: policy.Overall}, []string{
			"{}", "denied: tools may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"denied: tools may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"denied: tools may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"denied: tools may be called 1 times in 1m0s; the next call is possible in 1m0s",
			"denied: tools may be called 1 times in 1m0s; the next call is possible in 1m0s"}},
		{"a wait beyond MaxWait", &policy.RateOptions{MaxWait: time.Minute, Scope: policy.Overall},
			[]string{"{}", "{}", "{}", "{}", "{}", "{}"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			limit := policy.Rate(1, time.Minute, test.o)
			for i, path := range []string{"mail.send", "mail.list", "refund"} {
				for j := range 2 { // in two runs, each with its own set
					equal(t, test.name, told(call(t.Context(), threeTools(t).With(limit), path, `{}`)), test.want[2*i+j])
				}
			}
		})
	}
}

// A call that is canceled while it waits does not count.
func TestRateEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := threeTools(t).With(policy.Rate(1, time.Minute, nil))
		start := time.Now()
		equal(t, "first", told(call(t.Context(), set, "refund", `{}`)), `{}`)
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		const want = "denied: refund may be called 1 times in 1m0s; the next call is possible in 1m0s"
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
		set := threeTools(t).With(policy.Rate(10, time.Second, &policy.RateOptions{Scope: policy.Overall}))
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
		"fatal: policy: Rate needs a positive number of calls, a positive period and a Burst that is not negative; got 0, " +
			"1s and 0": policy.Rate(0, time.Second, nil),
		"fatal: policy: Rate needs a positive number of calls, a positive period and a Burst that is not negative; got 1, " +
			"0s and 0": policy.Rate(1, 0, nil),
		"fatal: policy: Rate needs a positive number of calls, a positive period and a Burst that is not negative; got 1, " +
			"1s and -1": policy.Rate(1, time.Second, &policy.RateOptions{Burst: -1}),
		"fatal: policy: Timeout needs a positive time, not 0s": policy.Timeout(0),
		"fatal: policy: Retry options must not be negative: Tries -1, Delay 0s, MaxDelay 0s": policy.Retry(
			&policy.RetryOptions{Tries: -1}),
		"fatal: policy: Redact needs Secrets; check the error that NewSecrets returned":      policy.Redact(nil),
		"fatal: policy: DenySecrets needs Secrets; check the error that NewSecrets returned": policy.DenySecrets(nil),
	} {
		equal(t, "the end", told(call(t.Context(), threeTools(t).With(p), "refund", `{}`)), want)
	}
}
