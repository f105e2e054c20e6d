package optimize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
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
	K     int   // the number of demos for each question; zero means 3
	Embed Embed // compares inputs by meaning; nil means by words

	// Bootstrap has a teacher answer all of Train, as in [BootstrapFewShot]. It is needed for predictors with fields
	// that the examples do not have.
	Bootstrap bool
}

// Embed returns a vector for each string, like the method EmbedDocuments of langchaingo's embedders.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

func (o KNNFewShot) optimize(ctx context.Context, t *task) error {
	all, picks := inOrder(len(t.train)), map[string]pick{}
	for _, p := range t.unfrozen() { // each predictor has an index of its own demos
		picks[p.Path] = Nearest(cmp.Or(max(o.K, 0), 3), o.Embed)
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
// the question, the most similar last. A nil embed compares words, by Okapi BM25.
func Nearest(
	k int, embed Embed,
) func(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]module.Demo, error) {
	n := &nearest{k: max(k, 0), embed: embed, vectors: map[string][]float32{}}
	return n.pick
}

type nearest struct {
	k     int
	embed Embed

	mu      sync.Mutex
	indexed []module.Demo // the demos in index
	index   *wordIndex
	vectors map[string][]float32 // by the text of the inputs of demos
}

func (n *nearest) pick(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]module.Demo, error) {
	if len(demos) <= n.k {
		return demos, nil
	}
	scores, err := n.scores(ctx, inputs, demos)
	if err != nil {
		return nil, err
	}
	order := inOrder(len(demos))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	picked := make([]module.Demo, n.k)
	for i := range picked {
		picked[len(picked)-1-i] = demos[order[i]]
	}
	return picked, nil
}

// scores returns how similar each demo is to the question.
func (n *nearest) scores(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]float64, error) {
	if n.embed == nil {
		return n.indexOf(demos).scores(textOf(inputs)), nil
	}
	asked, err := n.vectorsOf(ctx, inputs, demos)
	if err != nil {
		return nil, fmt.Errorf("the embedder: %w", err)
	}
	scores := make([]float64, len(demos))
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, d := range demos {
		scores[i] = cosine(asked, n.vectors[textOf(d.Inputs)])
	}
	return scores, nil
}

// indexOf returns the index of the demos. It keeps the last index, since the demos are the same for all questions.
func (n *nearest) indexOf(demos []module.Demo) *wordIndex {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.index == nil || len(n.indexed) != len(demos) || &n.indexed[0] != &demos[0] {
		texts := make([]string, len(demos))
		for i, d := range demos {
			texts[i] = textOf(d.Inputs)
		}
		n.indexed, n.index = demos, newWordIndex(texts)
	}
	return n.index
}

// vectorsOf returns the vector of the question, and adds missing vectors of demos to n.vectors.
func (n *nearest) vectorsOf(ctx context.Context, inputs signature.Values, demos []module.Demo) ([]float32, error) {
	texts := []string{textOf(inputs)}
	n.mu.Lock()
	for _, d := range demos {
		if text := textOf(d.Inputs); n.vectors[text] == nil && !slices.Contains(texts[1:], text) {
			texts = append(texts, text)
		}
	}
	n.mu.Unlock()
	vectors, err := n.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("it returned %d vectors for %d strings", len(vectors), len(texts))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, text := range texts[1:] {
		n.vectors[text] = vectors[i+1]
	}
	return vectors[0], nil
}

// cosine returns the cosine of the angle between two vectors, or 0 if one of them is zero.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
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
