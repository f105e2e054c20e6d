// Package vectors compares texts by meaning, with an embedder, and combines the result with a comparison by words.
package vectors

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Embedder is the interface of langchaingo's embedders.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

const (
	maxBatch = 100    // texts in a request
	maxKept  = 50_000 // vectors
)

// Store is an Embedder that keeps the vectors of documents. All its vectors have the length 1 or, if the embedder
// returned zeros, 0. It is safe for concurrent use.
type Store struct {
	embedder Embedder
	turn     chan struct{} // held while kept is in use, so that no text is embedded twice
	kept     map[[sha256.Size]byte][]float32
}

// Keep returns a Store for e, or e itself if it is a Store.
func Keep(e Embedder) *Store {
	if s, ok := e.(*Store); ok {
		return s
	}
	return &Store{embedder: e, turn: make(chan struct{}, 1), kept: map[[sha256.Size]byte][]float32{}}
}

// EmbedQuery returns the vector of a query.
func (s *Store) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := call(ctx, func() ([]float32, error) { return s.embedder.EmbedQuery(ctx, text) })
	if err != nil {
		return nil, fmt.Errorf("EmbedQuery: %w", err)
	}
	if v, err = unit(v); err != nil {
		return nil, fmt.Errorf("EmbedQuery returned %w", err)
	}
	return v, nil
}

// EmbedDocuments returns the vectors of texts. If it fails, it keeps the vectors that have arrived.
func (s *Store) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return s.documents(ctx, texts, 0)
}

// documents returns vectors of the given size, or of the same size if it is 0.
func (s *Store) documents(ctx context.Context, texts []string, size int) ([][]float32, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	all := make([][]float32, len(texts))
	var missing []int
	for i, text := range texts {
		all[i] = s.kept[sha256.Sum256([]byte(text))]
		if size = cmp.Or(size, len(all[i])); len(all[i]) != size || size == 0 {
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, maxBatch) {
		list := make([]string, len(batch))
		for i, at := range batch {
			list[i] = texts[at]
		}
		vectors, err := call(ctx, func() ([][]float32, error) { return s.embedder.EmbedDocuments(ctx, list) })
		switch {
		case err != nil:
			return nil, fmt.Errorf("EmbedDocuments: %w", err)
		case len(vectors) != len(list):
			return nil, fmt.Errorf("EmbedDocuments returned %d vectors for %d texts", len(vectors), len(list))
		}
		for i, at := range batch {
			v, err := unit(vectors[i])
			if size = cmp.Or(size, len(v)); err == nil && len(v) != size {
				err = fmt.Errorf("a vector of %d numbers, although others have %d", len(v), size)
			}
			if err != nil {
				return nil, fmt.Errorf("EmbedDocuments returned %w", err)
			}
			all[at], s.kept[sha256.Sum256([]byte(list[i]))] = v, v
		}
	}
	if len(s.kept) > maxKept {
		clear(s.kept)
	}
	return all, nil
}

// call calls an embedder, which may panic or ignore the end of the context.
func call[T any](ctx context.Context, embed func() (T, error)) (none T, _ error) {
	var value T
	err := errors.New("the embedder ended its goroutine")
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the embedder panicked: %v", p)
			}
		}()
		value, err = embed()
	}()
	select {
	case <-done:
		if err == nil || ctx.Err() == nil {
			return value, err
		}
	case <-ctx.Done():
	}
	return none, context.Cause(ctx)
}

// unit returns a copy of v with the length 1, or 0 if v is zero. The error continues a sentence.
func unit(v []float32) ([]float32, error) {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	switch {
	case len(v) == 0:
		return nil, errors.New("an empty vector")
	case math.IsNaN(square) || math.IsInf(square, 0):
		return nil, errors.New("a vector with a number that is NaN or infinite")
	}
	scaled := make([]float32, len(v))
	if square > 0 {
		for i, x := range v {
			scaled[i] = float32(float64(x) / math.Sqrt(square))
		}
	}
	return scaled, nil
}
