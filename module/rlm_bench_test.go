package module_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
)

// BenchmarkRLM measures a run of two programs on ten megabytes without the models. Its calls have
// 100 kB each. Raw is the same programs in a session of the same sandbox, which answers the calls
// itself.
func BenchmarkRLM(b *testing.B) {
	box, err := sandbox.New(&sandbox.Options{Limits: sandbox.Limits{Output: 1 << 20, Memory: 512 << 20}})
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close()
	const parts = 20
	text := strings.Repeat("a line about moles and other animals\n", 10<<20/37)
	programs := [2]string{
		fmt.Sprintf(
			`const parts = Array.from({length: %d}, (_, i) => text.slice(i * 100000, i * 100000 + 100000)); parts.length`,
			parts,
		),
		`const all = await Promise.all(parts.map(part => ask("How many?\n" + part))); submit({total: all.length})`,
	}
	session := func() error {
		s := box.NewSession(map[string]any{"text": text})
		for _, p := range programs {
			source := strings.Replace(p, "ask(", "(async x => x.length)(", 1)
			if out, err := s.Run(b.Context(), sandbox.Program{Source: source, Submit: true}); err != nil || out.Failure != nil {
				return fmt.Errorf("%v, %w", out, err)
			}
		}
		return nil
	}
	asking := fence(strings.Replace(programs[1], "ask(", "llm(", 1))
	model := turns{says(fence(programs[0])), says(asking)}
	m := module.NewRLM(reading, model, box, nil, &module.RLMOptions{Sub: says("7")})
	measureAgainst(b, session, func() error {
		_, err := m.Run(b.Context(), book{text})
		return err
	})
}
