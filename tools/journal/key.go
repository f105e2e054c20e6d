package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/writ-go/writ/tools"
)

// keyOf says which effect a call is: server, tool and identity arguments, in a
// canonical form.
func keyOf(c tools.Call) (string, error) {
	var args map[string]any
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber() // 2^53+1 and 2^53 are different arguments
	if err := d.Decode(&args); err != nil {
		return "", fmt.Errorf("journal: arguments of %s: %w", c.Tool.Path(), err)
	}
	if id := c.Tool.Hints.Identity; id != nil && c.Tool.Hints.Class != tools.Read {
		for name := range args {
			if !slices.Contains(id, name) {
				delete(args, name)
			}
		}
	}
	canonical, err := json.Marshal([]any{c.Tool.Namespace, c.Tool.Name, args}) // sorts the names
	if err != nil {
		return "", fmt.Errorf("journal: arguments of %s: %w", c.Tool.Path(), err)
	}
	sum := sha256.Sum256(canonical)
	return string(sum[:]), nil
}
