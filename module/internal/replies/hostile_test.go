package replies_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
)

// hostile are texts that are repeated until a reply is long. Whoever reads a
// reply must not go through it once for each of them.
var hostile = map[string]string{
	"prose": "word ", "lines": "word\n", "brackets": "[", "braces": "{\"a\":", "open braces": "{", "quotes": "\"", "backticks": "`",
	"markers": "[[ ## answer ## ]]\n", "markers inline": " [[ ## answer ## ]]", "other markers": "[[ ## x ## ]]\n", "half markers": "[[ ## ",
	"end markers": "[[ ## completed ## ]]\n", "ends inline": "[[ ## completed ## ]] ", "fences": "```\n", "fences inline": "```", "tildes": "~~~js\n",
	"thoughts": "<think></think>", "thoughts open": "<think>\n", "thoughts inline": "a<think>", "thoughts closed": "</think>\n", "thoughts and text": "a<think></think>\n",
	"labels": "Answer: a\n", "labels unequal": "Answer: a\nAnswer: b\n", "colons": ":", "headings": "## Answer\n", "bold": "**", "objects": "{\"answer\": \"a\"} ",
	"objects of others": "{\"x\": 1} ", "tags": "<answer>", "tags closed": "<answer>a</answer>\n", "bullets": "- a\n", "commas": "a, ", "comments": "{\"a\": 1 // b\n",
	"spaces": " ", "brace and space": "{ ", "escapes": "\\", "unfinished text": "{\"a\": \"\\\"", "type": "{answer: string}", "score labels": "Score: 1\n",
	"sentences": "The answer is a. ", "newlines": "\n", "courtesy": "Let me know.\n", "dashes": "- ", "inner quotes": "a \"b\" c ", "drafts": "{\"answer\": \"a\"}\n\nWait, I forgot. Corrected:\n\n", "corrections": "Wait, no: corrected:\n",
	"comments with numbers": "{\"a\": 1, // not 7 or 8\n", "drafts under markers": "[[ ## answer ## ]]\na\n\nWait, corrected:\n\n", "slashes": "{\"a\": \"\\frac\\new", "numbers": "1", "thousands": ",111",
}

func long(text string, size int) []string {
	body := strings.Repeat(text, size/len(text)+1)
	return []string{
		body, "[[ ## answer ## ]]\n" + body, body + answer("a"), "[[ ## answer ## ]]\na\n[[ ## score ## ]]\n" + body + end,
		`{"answer": "a", "score": 1}` + "\n" + body, `{"answer": "` + strings.ReplaceAll(body, "\n", " "), "Answer: a\nScore: 1\n\n" + body,
		"[[ ## answer ## ]]\na\n[[ ## score ## ]]\n1" + end + "\n" + body,
	}
}

// TestHostile holds that the memory that is used grows with the reply, and not
// with its square.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and is not run with -short")
	}
	const size = 2_000
	for name, text := range hostile {
		small, large := long(text, size), long(text, 4*size)
		for i := range small {
			once, fourfold := allocated(small[i]), allocated(large[i])
			for range 3 { // a collection in the midst of it empties the pools of expressions
				if fourfold > 8*once+1<<19 {
					fourfold = min(fourfold, allocated(large[i]))
				}
			}
			if fourfold > 8*once+1<<19 {
				t.Errorf("%s, %d: %d bytes for a reply, and %d for one that is four times as long", name, i, once, fourfold)
			}
		}
	}
}

func allocated(reply string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, kind := range []string{"two", "string", "list"} {
		_, _ = module.Markers().Read(kinds[kind], reply, false)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkHostile reads replies of a megabyte.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			replies := long(text, 1<<20)
			for b.Loop() {
				for _, reply := range replies {
					for _, kind := range []string{"two", "string", "list"} {
						_, _ = module.Markers().Read(kinds[kind], reply, false)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*len(replies)*3), "ms/reply")
		})
	}
}
