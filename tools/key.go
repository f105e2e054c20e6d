package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/writ-go/writ/internal/canonical"
)

// Key returns a call's key. Two calls with the same key count as the same effect. The key depends on the tool's server,
// its original name, and its arguments, or only the arguments in [Hints].Identity. Different notations of a number,
// such as 10 and 1e1, are equal, and a missing argument is equal to its default. For tools without a namespace, such as
// those of [Func], null and a missing argument are equal if the argument is optional and nullable. Key returns an error
// if args are not a JSON object.
func (b *Binding) Key(args json.RawMessage) (string, error) {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(b.Complete(args)))
	d.UseNumber() // so that 2^53+1 and 2^53 differ
	if err := d.Decode(&object); err != nil {
		return "", fmt.Errorf("tools: arguments of %s: %w", b.Path(), err)
	}
	if input := b.input.get(); input != nil && b.Namespace == "" {
		object, _ = input.DropNulls(object).(map[string]any)
	}
	if id := b.Hints.Identity; id != nil && b.ReplayClass() != Read {
		maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(id, name) })
	}
	text, err := json.Marshal([]any{b.Namespace, b.Name, canonical.Value(object)}) // sorts the names
	if err != nil {
		return "", fmt.Errorf("tools: arguments of %s: %w", b.Path(), err)
	}
	sum := sha256.Sum256(text)
	return string(sum[:]), nil
}
