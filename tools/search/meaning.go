package search

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/vectors"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/bm25"
)

// Embedder returns vectors for texts: similar vectors for texts with similar meanings. It is the interface Embedder of
// langchaingo's package embeddings. It must be safe for concurrent use.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Cached returns an Embedder that keeps the vectors of documents in memory, scaled to length 1, and embeds at most 100
// documents per request. Share it among modules whose sets have tools in common, so that each tool is embedded once.
// Make a new one when e gets another model whose vectors have the same size.
//
// When it has more than 50,000 vectors, it forgets them. A panic of e becomes an error, as does a vector with a NaN.
// Cached of nil is nil.
func Cached(e Embedder) Embedder {
	if e == nil {
		return nil
	}
	return vectors.Keep(e)
}

const (
	maxWait     = 10 * time.Second // how long a search waits for the embedder
	maxEmbedded = 2000             // bytes that are embedded of a query or a description
)

// ByMeaning returns a copy of d that also compares meanings: the results of Search are ordered by the ranks that tools
// have by words and by the embedder's vectors (reciprocal rank fusion), so that a tool is also found by other words
// than its own. A search then nearly always finds something. If e is nil, ByMeaning returns d.
//
// The first search embeds the name and the description of each tool. If the embedder fails, or does not reply within
// 10 seconds, the search compares only words, and logs a warning to log. Nil means slog.Default().
func (d *Index) ByMeaning(e Embedder, log *slog.Logger) *Index {
	if e == nil {
		return d
	}
	other := *d
	other.log = cmp.Or(log, slog.Default())
	other.meaning = vectors.Keep(e).Index(func() []string {
		texts := make([]string, len(d.bindings))
		for i, b := range d.bindings {
			texts[i] = b.Path() + ": " + display.Cut(b.Description, maxEmbedded)
		}
		return texts
	})
	return &other
}

// find returns the tools that match the query best.
func (d *Index) find(ctx context.Context, query, server string, limit int) []bm25.Hit {
	if d.meaning == nil {
		return d.words.Search(query, server, limit)
	}
	defer tools.Pause(ctx)() // the wait has its own limit
	waiting, cancel := context.WithTimeoutCause(ctx, maxWait, fmt.Errorf("no reply within %v", maxWait))
	defer cancel()
	cosines, err := d.meaning.Scores(waiting, display.Cut(query, maxEmbedded))
	if err == nil {
		return d.words.Fused(query, server, limit, cosines)
	}
	if ctx.Err() == nil {
		d.log.Warn("search: the embedder failed; comparing only words", "error", display.Text(err.Error()))
	}
	return d.words.Search(query, server, limit)
}
