package engine

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestTameIsQuick puts texts together from what goja's parser may get wrong, in the
// way of those that it takes exponential time for: an opening, often, and what
// closes it, more often. It must be through with each that is tame.
func TestTameIsQuick(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	openings := []string{"(a=", "(a,", "f(a,", "(", "(a)?", "[", "{a:", "`${", "(a=>", "async(a,", "(a=f(", "(a=b=", "(a={b:", "({a=", "(a=x=>{}", "(...a,"}
	pieces := []string{
		"1", "a", "b", "f", "[b]", "+", "é", "return", "if", "(x)", "(x,y)", "({x})", "=>", "x=>", "(x)=>", "async", " x=>", "(", ")", "=", ",", ":", "?", "{", "}", "{}", "#x",
		"++", ".", "...", "\n", ";", "`", "'", "/", "function", "class", "new", "get", "this", "1=>", "f((x)=>", ",(x)=>", "b=(x)=>", "b=x=>", "in", "await", "let", "null",
	}
	piece := func(n int) string {
		var b strings.Builder
		for range 1 + random.IntN(n) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	seen, texts := 0, 60_000
	if testing.Short() {
		texts /= 10
	}
	for range texts {
		const depth = 24
		opening := openings[random.IntN(len(openings))]
		if random.IntN(2) == 0 {
			opening += piece(3)
		}
		text := strings.Repeat(opening, depth) + piece(2) + strings.Repeat(piece(6), 3*depth) + piece(2)
		if !tame(text) {
			continue
		}
		seen++
		if !parsesQuickly(text) {
			t.Fatalf("it takes forever: %q", text)
		}
	}
	if seen < texts/120 {
		t.Errorf("only %d of the texts are tame", seen)
	}
}

// parsesQuickly reports whether a text is parsed before plain ones of about its length
// are, many times over. It compares, and does not measure, so that a busy machine, which
// has both of them wait, changes nothing.
func parsesQuickly(text string) bool {
	done := make(chan struct{})
	go func() {
		_, _ = parseByGoja("program.js", prologue+text+epilogue)
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(time.Second): // most are through by then, and nothing need be compared
	}
	plain := prologue + strings.Repeat("f(a,b);", len(text)/7) + epilogue
	for range 10_000 {
		_, _ = parseByGoja("program.js", plain)
		select {
		case <-done:
			return true
		default:
		}
	}
	return false
}

// TestForeverIsNoticed has the yardstick of TestTameIsQuick tell a text that does take
// exponential time.
func TestForeverIsNoticed(t *testing.T) {
	t.Parallel()
	const depth = 24 // many seconds; each more doubles it
	text := strings.Repeat("(a=", depth) + "b" + strings.Repeat(")=>1", depth)
	if tame(text) {
		t.Errorf("this is tame: %q", text)
	}
	if parsesQuickly(text) {
		t.Errorf("this is quick: %q", text)
	}
}
