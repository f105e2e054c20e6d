package optimize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/writ-go/writ/internal/vectors"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools/search"
)

// KNNFewShot shows the model the examples of Train that are most similar to each question. Use it if there are many
// examples, and the questions differ so much that a few examples cannot represent them all.
//
// The demos are the examples as they are or, with Bootstrap, successful runs of a teacher on the examples. The
// predictors of the resulting module have all of these demos, and their PickDemos picks from them. A saved state does
// not include PickDemos: load it into a module whose PickDemos is [Nearest] with the same arguments.
//
// The method was published by Liu et al., "What Makes Good In-Context Examples for GPT-3?" (DeeLIO 2022).
type KNNFewShot struct {
	K        int             // the number of demos for each question; zero means 3
	Embedder search.Embedder // compares inputs by meaning as well as by words; nil means only by words

	// Bootstrap has a teacher answer all of Train, as in [BootstrapFewShot]. It is needed for predictors with fields
	// that the examples do not have.
	Bootstrap bool
}

func (o KNNFewShot) optimize(ctx context.Context, t *task) error {
	all, picks := inOrder(len(t.train)), map[string]pick{}
	embedder := search.Cached(o.Embedder)
	for _, p := range t.unfrozen() { // each predictor has an index of its own demos
		picks[p.Path] = Nearest(cmp.Or(max(o.K, 0), 3), embedder)
	}
	c := newCandidate(t.start, "KNNFewShot")
	if t.setLabeled(c, all, len(all)) == 0 && !o.Bootstrap {
		return errNoFields("set KNNFewShot.Bootstrap")
	}
	c.setPicks(picks)
	if !o.Bootstrap {
		return t.accept(ctx, c)
	}
	b := BootstrapFewShot{MaxBootstrapped: len(all), MaxLabeled: len(all), Rounds: 1}.withDefaults(t)
	traces, err := b.teach(ctx, t, c, all)
	if err != nil {
		return err
	}
	if len(traces) == 0 {
		t.warnNoTraces(b.Threshold)
	}
	c = b.shown(t, traces, all, math.MaxInt, "KNNFewShot")
	c.setPicks(picks)
	return t.accept(ctx, c)
}

// setPicks sets the functions that pick the demos of the predictors.
func (c *Candidate) setPicks(picks map[string]pick) {
	for path, pick := range picks {
		c.states[path].pick = pick
	}
}

func (o KNNFewShot) estimate(t *task) Spent {
	if !o.Bootstrap {
		return Spent{StudentCalls: len(t.val)}
	}
	return t.taught(len(t.train), len(t.val))
}

// Nearest returns a function for module.Predictor.PickDemos that picks the k demos whose inputs are most similar to
// the question, the most similar last. Inputs are compared by words (Okapi BM25) and, if e is not nil, by meaning: the
// two ranks of each demo are combined by reciprocal rank fusion. The demos are embedded once. If the embedder fails,
// the function returns the error, because an optimizer must not compare demos that were picked in different ways.
func Nearest(
	k int, e search.Embedder,
) func(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]module.Demo, error) {
	n := &nearest{k: max(k, 0)}
	if e != nil {
		n.store = vectors.Keep(e)
	}
	return n.pick
}

type nearest struct {
	k     int
	store *vectors.Store // nil to compare only words

	mu      sync.Mutex
	indexed []module.Demo // the demos in words and meaning
	words   *wordIndex
	meaning *vectors.Index
}

func (n *nearest) pick(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]module.Demo, error) {
	if len(demos) <= n.k {
		return demos, nil
	}
	question := textOf(inputs)
	words, meaning := n.indexOf(demos)
	scores := words.scores(question)
	if n.store != nil {
		cosines, err := meaning.Scores(ctx, question)
		if err != nil {
			return nil, fmt.Errorf("the embedder failed: %w", err)
		}
		scores = vectors.Fuse(scores, cosines)
	}
	order := inOrder(len(demos))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	picked := make([]module.Demo, n.k)
	for i := range picked {
		picked[len(picked)-1-i] = demos[order[i]]
	}
	return picked, nil
}

// indexOf returns the indexes of the demos. It keeps the last ones, since the demos are the same for all questions.
func (n *nearest) indexOf(demos []module.Demo) (*wordIndex, *vectors.Index) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.words == nil || len(n.indexed) != len(demos) || &n.indexed[0] != &demos[0] {
		texts := make([]string, len(demos))
		for i, d := range demos {
			texts[i] = textOf(d.Inputs)
		}
		n.indexed, n.words = demos, newWordIndex(texts)
		if n.store != nil {
			n.meaning = n.store.Index(func() []string { return texts })
		}
	}
	return n.words, n.meaning
}

// textOf returns the strings and numbers in inputs.
func textOf(inputs signature.Values) string {
	text := ""
	for _, v := range inputs {
		for _, s := range stringsIn(v.JSON) {
			text += s + "\n"
		}
	}
	return text
}
