package optimize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// errBudget reports that the budget is spent.
var errBudget = lm.Reworded(budget.ErrSpent, "the budget of the optimization is spent")

// Budget limits an optimization. Fields that are zero mean no limit, but if there is no limit on StudentCalls, Tokens,
// Cost or Time, Options.Effort limits the search.
//
// If an evaluation would exceed a limit, all of its outcomes are discarded, even those of the examples that were run,
// so that a search does not depend on the order in which replies arrive.
//
// The tokens and the cost of a call are known only when its reply arrives. The calls that are then in progress, about
// one for each of Options.Workers, may exceed the limits, and equal searches may spend different amounts. A call counts
// once, even if models.Retry within the model repeats it, or the model runs modules of its own. Calls that a metric or
// an [Embed] makes directly, and not through a module, are not counted, nor are calls of a search within the module.
// A budget of the context of Run counts and bounds all of them (see package budget); if it is spent, Run returns its
// error together with the result so far.
type Budget struct {
	StudentCalls    int           // calls of the module's own models
	TeacherCalls    int           // calls of Options.Teacher
	ReflectionCalls int           // calls of Options.Reflection
	Tokens          int           // of all models together, including those of the metric
	Cost            float64       // of all models together, in the currency of Options.Prices
	Time            time.Duration // of one call of Run; replies from Options.Dir take almost no time
}

// Spent is what an optimization used, or is estimated to use. Replies from a cache cost nothing.
type Spent struct {
	StudentCalls    int           `json:"student_calls"`
	TeacherCalls    int           `json:"teacher_calls,omitempty"`
	ReflectionCalls int           `json:"reflection_calls,omitempty"`
	MetricCalls     int           `json:"metric_calls,omitempty"` // calls of models by the metric
	InputTokens     int           `json:"input_tokens,omitempty"`
	OutputTokens    int           `json:"output_tokens,omitempty"`
	Cost            float64       `json:"cost,omitempty"`
	Unpriced        int           `json:"unpriced,omitempty"` // calls of models without a price, which Cost leaves out
	Time            time.Duration `json:"time_ns,omitempty"`
}

// String returns the calls, the tokens and the cost on one line.
func (s Spent) String() string {
	var list []string
	for _, x := range []struct {
		n    int
		noun string
	}{
		{s.StudentCalls, "student call"}, {s.TeacherCalls, "teacher call"}, {s.ReflectionCalls, "reflection call"},
		{s.MetricCalls, "metric call"}, {s.InputTokens, "input token"}, {s.OutputTokens, "output token"},
	} {
		if x.n > 0 {
			list = append(list, display.Plural(x.n, x.noun))
		}
	}
	if s.Cost > 0 {
		list = append(list, fmt.Sprintf("a cost of %.4g", s.Cost))
	}
	return cmp.Or(strings.Join(list, ", "), "nothing")
}

// role is the purpose of a call of a model.
type role string

const (
	student    role = "student"
	teacher    role = "teacher"
	reflection role = "reflection"
	judge      role = "metric"
)

// ledger applies the budget and the log of replies to every call of a model.
type ledger struct {
	limits Budget
	began  time.Time
	log    *models.Store   // nil without Options.Dir
	asked  atomic.Int64    // the number of calls
	paid   atomic.Int64    // the number of calls that the log did not answer
	total  context.Context // has a budget that counts tokens and money, also of the calls that the log answers

	mu       sync.Mutex
	settled  *sync.Cond    // broadcasts that a call has ended
	calls    map[role]int  // finished calls, except free ones
	underway map[role]int  // calls in progress
	refused  map[role]bool // whether a call was refused
	dearest  amounts       // the highest price of a run of the module, on average over any batch
}

// amounts are what limits a search: calls of the student, tokens, money and time, in this order.
type amounts [4]float64

func (b Budget) amounts() amounts {
	return amounts{float64(b.StudentCalls), float64(b.Tokens), b.Cost, float64(b.Time)}
}

func (s Spent) amounts() amounts {
	return amounts{float64(s.StudentCalls), float64(s.InputTokens + s.OutputTokens), s.Cost, float64(s.Time)}
}

// priceRuns updates the price of a run after a batch of n runs. The argument before is what was spent before the batch.
func (l *ledger) priceRuns(before Spent, n int) {
	now, then := l.spent().amounts(), before.amounts()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range now {
		l.dearest[i] = max(l.dearest[i], (now[i]-then[i])/float64(n))
	}
}

// affords reports whether the budget is enough for n more runs at the highest price so far.
func (l *ledger) affords(n int) bool {
	used := l.spent().amounts()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, limit := range l.limits.amounts() {
		if limit > 0 && used[i]+float64(n)*l.dearest[i] > limit {
			return false
		}
	}
	return true
}

func newLedger(limits Budget, prices map[string]budget.Price, log *models.Store) *ledger {
	l := &ledger{
		limits: limits, began: time.Now(), log: log,
		calls: map[role]int{}, underway: map[role]int{}, refused: map[role]bool{},
	}
	l.settled = sync.NewCond(&l.mu)
	priced := budget.Limits{Prices: prices}
	if limits.Cost > 0 {
		priced.Cost = math.MaxFloat64 // effectively unlimited, but a model without a price is an error
	}
	l.total = budget.With(context.Background(), priced)
	return l
}

// model wraps m with the budget and the log. The scope distinguishes requests that may be made at the same time, so
// that a resumed search gives each of them its own reply.
func (l *ledger) model(r role, scope string, m llms.Model) llms.Model {
	name := models.CapabilitiesOf(m).Model
	m = lm.Wrap(m, l.inTime(r, m))
	if l.log != nil {
		m = l.log.Model(m, strings.Join([]string{string(r), name, scope}, "\n"))
	}
	return lm.Wrap(m, l.counted(r, m))
}

// inContext returns a context in which the ledger applies to every call that a module makes to a model.
func (l *ledger) inContext(ctx context.Context, r role, scope string) context.Context {
	return lm.WithInterceptor(ctx, func(m llms.Model) llms.Model { return l.model(r, scope, m) })
}

// inTime refuses calls of m after the time limit.
func (l *ledger) inTime(r role, m llms.Model) lm.Func {
	return func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		l.paid.Add(1)
		if l.limits.Time > 0 && time.Since(l.began) >= l.limits.Time {
			return nil, l.refuse(r)
		}
		return lm.Generate(ctx, m, messages, options...)
	}
}

// answered returns the number of calls that the log answered.
func (l *ledger) answered() int64 { return l.asked.Load() - l.paid.Load() }

// counted counts calls of m, and refuses calls that would exceed the limits.
func (l *ledger) counted(r role, m llms.Model) lm.Func {
	return func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		if !l.begin(r) {
			return nil, l.refuse(r)
		}
		l.asked.Add(1)
		response, err := l.charged(ctx, m, messages, options)
		l.end(r, isFree(response, err))
		return response, err
	}
}

// charged calls m and charges the search for the reply, even if it comes from the log, so that a resumed search takes
// the same path. The budgets of ctx are charged only for calls that are made.
func (l *ledger) charged(ctx context.Context, m llms.Model, messages []llms.MessageContent,
	options []llms.CallOption) (*llms.ContentResponse, error) {
	c := lm.ChargeOf(ctx, m, messages, options)
	c.Step = nil // a budget of ctx is charged for it
	_, _, settle, err := lm.MeterOf(l.total).Reserve(ctx, c)
	if err != nil {
		return nil, err
	}
	response, err := lm.Generate(ctx, m, messages, options...)
	return response, settle(lm.Merge(response), err)
}

// isFree reports whether a cache answered the call, or the call was never made.
func isFree(response *llms.ContentResponse, err error) bool {
	if failure, ok := errors.AsType[*lm.Error](err); ok && !failure.MaybeCharged {
		return failure.Kind == lm.KindOverBudget || failure.Kind == lm.KindCancelled
	}
	return lm.Merge(response).Cached
}

// begin reports whether the budget allows another call. If this depends on whether calls in progress turn out to be
// free, begin waits for them.
func (l *ledger) begin(r role) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.limit(r)
	for limit > 0 && l.underway[r] > 0 && l.calls[r]+l.underway[r] >= limit {
		l.settled.Wait()
	}
	if limit > 0 && l.calls[r] >= limit || l.reached() {
		return false
	}
	l.underway[r]++
	return true
}

func (l *ledger) end(r role, free bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.underway[r]--
	if !free {
		l.calls[r]++
	}
	l.settled.Broadcast()
}

func (l *ledger) limit(r role) int {
	return map[role]int{
		student: l.limits.StudentCalls, teacher: l.limits.TeacherCalls, reflection: l.limits.ReflectionCalls,
	}[r]
}

// reached reports whether the limit on tokens or on cost is reached.
func (l *ledger) reached() bool {
	s := budget.Of(l.total).Spent()
	return l.limits.Tokens > 0 && s.InputTokens+s.OutputTokens >= l.limits.Tokens ||
		l.limits.Cost > 0 && s.Cost >= l.limits.Cost
}

func (l *ledger) refuse(r role) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[r] = true
	return &lm.Error{Kind: lm.KindOverBudget, Err: errBudget}
}

// over reports whether calls in a role have exceeded the budget, in whatever order they were made.
func (l *ledger) over(r role) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := budget.Of(l.total).Spent()
	return l.refused[r] || l.limits.Tokens > 0 && s.InputTokens+s.OutputTokens > l.limits.Tokens ||
		l.limits.Cost > 0 && s.Cost > l.limits.Cost
}

func (l *ledger) spent() Spent {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := budget.Of(l.total).Spent()
	return Spent{
		StudentCalls: l.calls[student], TeacherCalls: l.calls[teacher], ReflectionCalls: l.calls[reflection],
		MetricCalls: l.calls[judge], InputTokens: s.InputTokens, OutputTokens: s.OutputTokens,
		Cost: s.Cost, Unpriced: s.Unpriced, Time: time.Since(l.began),
	}
}

// left returns how many more calls the budget allows in a role.
func (l *ledger) left(r role) int {
	limit := l.limit(r)
	if limit == 0 {
		return math.MaxInt
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(limit-l.calls[r], 0)
}
