package models_test

import (
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// usageKey matches a row of a table of keys, with the field of the usage that the key sets.
var usageKey = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `(\\w+)`: ")

// The keys of GenerationInfo in docs/models.md set the fields in its table, and there is one for each field.
func TestDocumentedUsage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	info, want, fields := map[string]any{}, lm.Usage{}, 0
	for i, row := range usageKey.FindAllStringSubmatch(string(text), -1) {
		info[row[1]] = 1000 - i
		reflect.ValueOf(&want).Elem().FieldByName(row[2]).SetInt(int64(1000 - i))
		fields++
	}
	response := &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "Hi.", GenerationInfo: info}}}
	if got := lm.UsageOf(response); got != want || fields != reflect.TypeFor[lm.Usage]().NumField() {
		t.Errorf("%v is read as %+v, want %+v", info, got, want)
	}
	info["PromptTokens"], info["CompletionTokens"], info["TotalTokens"] = 1000, 3000, 5000
	if got := lm.UsageOf(response); got.Output != 4000 || got.Reasoning != 1000 {
		t.Errorf("%v is read as %+v", info, got)
	}
}
