package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/jsonscan"
)

// BenchmarkCheck compares Check with json.Valid, which reads the same bytes.
func BenchmarkCheck(b *testing.B) {
	const tool = `{"name":"read_file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},`
	for name, text := range map[string]string{
		"small":   `[` + strings.Repeat(`{},`, 1<<20) + `1]`,
		"strings": `["` + strings.Repeat("x", 4<<20) + `"]`,
		"schemas": `[` + strings.Repeat(tool, 40<<10) + `1]`,
	} {
		b.Run(name+"/check", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_ = jsonscan.Check([]byte(text), jsonscan.Limits{Values: 1 << 30, Depth: 1000})
			}
		})
		b.Run(name+"/valid", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				json.Valid([]byte(text))
			}
		})
	}
}
