package optimize

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// GEPA rewrites instructions by reflection. The reflection model reads what the module did on a few examples of Train,
// with the feedback of the metric, and writes better instructions for one of the predictors. A rewrite that improves
// the results on those examples is evaluated on all of Val. GEPA continues from every candidate that is best on some
// example of Val, so that several good ideas survive next to each other, and it merges pairs of candidates that have a
// common ancestor. It rewrites one predictor at a time: the one at fault, if the metric's Score.For or the reflection
// model names it, and otherwise each in turn.
//
// Use GEPA if the metric explains in words what was wrong ([module.Score].Feedback). GEPA learns from this feedback,
// and with good feedback it needs few runs of the module. It does not add demos; to have both, run it on the result of
// a [BootstrapRandomSearch]. If the metric says only right or wrong, use BootstrapRandomSearch or [MIPROv2].
//
// The algorithm is that of Agrawal et al., "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning"
// (2025, arXiv:2507.19457). To need fewer runs, this version also shows the reflection model some examples that were
// not run and earlier failures of the same candidate, and it evaluates a rewrite on a quarter of Val before the rest.
// GEPA needs Options.Reflection. The model is asked to reply with the new text between <instructions> and
// </instructions>; a fenced block, or a reply that is nothing but the text, is accepted, too.
type GEPA struct {
	// Minibatch is the number of examples of Train that are run for each reflection. Zero means 3.
	Minibatch int

	// Iterations is the maximum number of reflections and merges. Zero means 100. If a search uses all of them, a
	// warning says so.
	Iterations int

	// Merges is the maximum number of accepted merges. Zero means 5; a negative number disables merging.
	Merges int

	// FromBest continues only from the candidate with the best score on Val, instead of from all candidates of the
	// Pareto front. The search finds a good candidate sooner, but is more likely to end in a dead end.
	FromBest bool

	// Together rewrites all predictors at fault in one step, instead of one of them.
	Together bool

	// ToolNotes also has GEPA rewrite notes about tools, which the model reads in addition to the tools' descriptions.
	// A note is rewritten only if a run that failed has called the tool. Set it if the model misunderstands what tools
	// do: otherwise the notes take reflections that instructions need.
	ToolNotes bool
}

// otherExamples is the number of examples of Train that the reflection model sees although they were not run.
const otherExamples = 5

func (g GEPA) optimize(ctx context.Context, t *task) error {
	s := g.search(t)
	defer s.discard()
	for n := 0; !s.ended(n); n++ {
		merged, err := s.merge(ctx)
		if err == nil && !merged {
			err = s.reflect(ctx, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ended reports whether the search is over. If so, it reports the reason as progress or as a warning.
func (s *gepaSearch) ended(iterations int) bool {
	switch {
	case s.task.best().Score >= s.perfect:
		s.task.say("GEPA: the best candidate has the score %g on all of Val, so the search ended", s.perfect)
	case s.useless == maxUseless:
		s.task.warn("GEPA: the reflection model returned nothing new %d times in a row, so the search ended; use "+
			"another model or a higher temperature", maxUseless)
	case iterations < s.Iterations:
		return false
	case s.idle*s.batches.size >= s.batches.n:
		s.task.warn("GEPA: in the last %d of %d iterations, no candidate made a mistake on Train, so there was "+
			"nothing to learn; use more examples, or more difficult ones", s.idle, s.Iterations)
	default:
		s.task.warn("GEPA: all %d iterations were used; raise GEPA.Iterations to continue the search", s.Iterations)
	}
	return true
}

func (g GEPA) estimate(t *task) Spent {
	g = g.withDefaults()
	perIteration := 2 // a text, asked for twice if the first reply cannot be used
	if len(t.unfrozen()) > 1 {
		perIteration++ // which predictor is at fault
	}
	return Spent{
		StudentCalls:    g.Iterations * (len(t.train) + g.Minibatch + len(t.val)),
		ReflectionCalls: g.Iterations * perIteration,
	}
}

func (g GEPA) withDefaults() GEPA {
	g.Minibatch, g.Iterations = cmp.Or(max(g.Minibatch, 0), 3), cmp.Or(max(g.Iterations, 0), 100)
	g.Merges = cmp.Or(g.Merges, 5)
	return g
}

// A search ends after maxUseless reflections in a row without a new text.
const maxUseless = 10

// gepaSearch is the state of a search.
type gepaSearch struct {
	GEPA // with defaults
	task *task

	perfect    float64 // the score that cannot be improved
	components []component
	pool       []*gepaCandidate // the accepted candidates
	tried      map[string]bool  // the keys are contents of candidates; true if the candidate was accepted
	batches    *batches
	ahead      []*proposal        // the proposals that have been begun, in order
	rejected   int                // proposals in a row that were rejected
	useless    int                // reflections in a row without a new text
	idle       int                // iterations in a row without a mistake on Train
	mergeDue   bool               // whether a candidate was accepted since the last attempt to merge
	merged     map[mergePair]bool // the pairs for which there was an attempt to merge
}

// A gepaCandidate is an accepted candidate.
type gepaCandidate struct {
	*Candidate
	next   int       // the component that is rewritten next
	failed []outcome // failures on Train, which later reflections see again
}

// A component is a text that GEPA rewrites: the instructions of a predictor, or a predictor's note about a tool, which
// the model reads in addition to the tool's description.
type component struct {
	predictor   predictor
	tool        string // the path of the tool, or "" for the instructions
	description string // of the tool
}

func (g GEPA) search(t *task) *gepaSearch {
	s := &gepaSearch{GEPA: g.withDefaults(), task: t, perfect: 1, merged: map[mergePair]bool{}}
	if slices.Max(t.start.Scores) > 1 {
		s.perfect = math.Inf(1)
	}
	for _, p := range t.unfrozen() {
		s.components = append(s.components, component{predictor: p})
		if s.ToolNotes {
			for _, b := range p.Tools {
				s.components = append(s.components, component{p, b.Path(), b.Description})
			}
		}
	}
	s.pool, s.tried = []*gepaCandidate{{Candidate: t.start}}, map[string]bool{t.start.content(): true}
	s.batches = &batches{n: len(t.train), size: min(s.Minibatch, len(t.train))}
	return s
}

// name returns the path of the predictor and, for a note, the path of the tool.
func (c component) name() string {
	if c.tool == "" {
		return c.predictor.Path
	}
	return c.predictor.Path + ", " + c.tool
}

// text returns the text of the component in a candidate.
func (c component) text(from *Candidate) string {
	if c.tool == "" {
		return from.states[c.predictor.Path].Instructions
	}
	return from.states[c.predictor.Path].ToolDescriptions[c.tool]
}

// set sets the text of the component in a candidate.
func (c component) set(to *Candidate, text string) {
	state := to.states[c.predictor.Path]
	switch {
	case c.tool == "":
		state.Instructions = text
	case text != "":
		if state.ToolDescriptions == nil {
			state.ToolDescriptions = map[string]string{}
		}
		state.ToolDescriptions[c.tool] = text
	default:
		delete(state.ToolDescriptions, c.tool)
	}
}

// isNew reports whether no candidate with the same content was tried before, and records this one.
func (s *gepaSearch) isNew(c *Candidate) bool {
	content := c.content()
	accepted, known := s.tried[content]
	s.tried[content] = accepted
	return !known
}

// accept adds a candidate to the pool and to the result.
func (s *gepaSearch) accept(ctx context.Context, c *gepaCandidate) error {
	if err := s.task.accept(ctx, c.Candidate); err != nil {
		return err
	}
	s.pool, s.tried[c.content()], s.mergeDue = append(s.pool, c), true, true
	return nil
}

// total returns the weighted sum of the scores. An example with an error has the score 0.
func total(outcomes []outcome) float64 {
	sum := 0.0
	for _, o := range outcomes {
		sum += o.share * o.Score.Value
	}
	return sum
}

// totalOnVal returns the weighted sum of a candidate's scores on some examples of Val, as total does.
func (t *task) totalOnVal(c *gepaCandidate, indices []int) float64 {
	sum := 0.0
	for _, i := range indices {
		sum += t.val[i].share * c.Scores[i]
	}
	return sum
}

// batches draws minibatches, so that every example is drawn once before any is drawn again.
type batches struct {
	n, size int
	left    []int
}

func (b *batches) next(r *rand.Rand) []int {
	if len(b.left) < b.size {
		isLeft := func(i int) bool { return slices.Contains(b.left, i) }
		others := slices.DeleteFunc(r.Perm(b.n), isLeft)
		b.left = slices.Concat(b.left, others, b.left) // no example is in a batch twice
	}
	batch := b.left[:b.size:b.size]
	b.left = b.left[b.size:]
	return batch
}
