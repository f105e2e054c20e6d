// Package vectors compares texts by meaning, with an embedder, and combines the result with a comparison by words.
package vectors

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
)

// Embedder returns vectors for texts. It is the interface of langchaingo's embedders.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

const (
	maxBatch = 100     // texts in a request
	maxKept  = 50_000  // vectors that are kept for texts that are not asked for
	maxSize  = 1 << 16 // numbers in a vector
)

// Store is an Embedder that keeps the vectors of documents. All its vectors have the length 1 or, if a text has no
// direction, 0. It is safe for concurrent use.
type Store struct {
	embedder Embedder
	turn     chan struct{} // held while kept is in use, so that no text is embedded twice
	kept     map[key][]float32
}

type key = [sha256.Size]byte

// Keep returns a Store for e, or e itself if it is a Store.
func Keep(e Embedder) *Store {
	if s, ok := e.(*Store); ok {
		return s
	}
	return &Store{embedder: e, turn: make(chan struct{}, 1), kept: map[key][]float32{}}
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

// EmbedDocuments returns the vectors of texts. If it fails, it keeps the vectors that it already has.
func (s *Store) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return s.documents(ctx, texts, 0)
}

// documents returns vectors of the given size. A size of 0 is the size of the first vector.
func (s *Store) documents(ctx context.Context, texts []string, size int) ([][]float32, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	keys, wanted := make([]key, len(texts)), map[key]bool{}
	var missing []int
	for i, text := range texts {
		keys[i] = sha256.Sum256([]byte(text))
		v, ok := s.kept[keys[i]]
		if size == 0 {
			size = len(v)
		}
		if !wanted[keys[i]] && (!ok || len(v) != size) {
			missing = append(missing, i)
		}
		wanted[keys[i]] = true
	}
	if len(s.kept)+len(missing) > maxKept {
		maps.DeleteFunc(s.kept, func(k key, _ []float32) bool { return !wanted[k] })
	}
	for len(missing) > 0 {
		batch := missing[:min(len(missing), maxBatch)]
		missing = missing[len(batch):]
		list := make([]string, len(batch))
		for i, at := range batch {
			list[i] = texts[at]
		}
		vectors, err := s.embed(ctx, list, &size)
		if err != nil {
			return nil, fmt.Errorf("EmbedDocuments%w", err)
		}
		for i, at := range batch {
			s.kept[keys[at]] = vectors[i]
		}
	}
	all := make([][]float32, len(texts))
	for i, k := range keys {
		all[i] = s.kept[k]
	}
	return all, nil
}

// embed embeds a batch. All vectors must have the given size; a size of 0 becomes that of the first vector. The error
// continues a sentence.
func (s *Store) embed(ctx context.Context, texts []string, size *int) ([][]float32, error) {
	raw, err := call(ctx, func() ([][]float32, error) { return s.embedder.EmbedDocuments(ctx, texts) })
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	if len(raw) != len(texts) {
		return nil, fmt.Errorf(" returned %d vectors for %d texts", len(raw), len(texts))
	}
	vectors := make([][]float32, len(raw))
	for i, v := range raw {
		if vectors[i], err = unit(v); err != nil {
			return nil, fmt.Errorf(" returned %w", err)
		}
		if *size == 0 {
			*size = len(v)
		}
		if len(v) != *size {
			return nil, fmt.Errorf(" returned a vector of %d numbers, although others have %d", len(v), *size)
		}
	}
	return vectors, nil
}

// call calls an embedder, which may panic or ignore the end of the context.
func call[T any](ctx context.Context, embed func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: errors.New("the embedder ended its goroutine")}
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("the embedder panicked: %v", p)
			}
			done <- r
		}()
		r.value, r.err = embed()
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// unit returns a copy of v with the length 1, or 0 if v is zero. The error continues a sentence.
func unit(v []float32) ([]float32, error) {
	if len(v) == 0 || len(v) > maxSize {
		return nil, fmt.Errorf("a vector of %d numbers", len(v))
	}
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
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
