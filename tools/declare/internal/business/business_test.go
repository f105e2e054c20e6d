package business_test

import (
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare/internal/business"
)

// There are as many tools as the documents say, and their names are unique.
func TestTools(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	of := map[string]int{}
	for _, tool := range business.Tools() {
		path := tool.Namespace + "." + tool.Name
		if seen[path] || !tools.Identifier(tool.Name) {
			t.Errorf("%s exists twice or is not an identifier", path)
		}
		seen[path] = true
		of[tool.Namespace]++
	}
	if len(seen) != 547 {
		t.Errorf("%d tools, want 547: %v", len(seen), of)
	}
}
