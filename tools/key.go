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
// those of [Func], null and a missing argument are equal if the argument is optional and nullable. Args must be
// a JSON object, and null is one without members; Key returns an error for other values.
func (b *Binding) Key(args json.RawMessage) (string, error) {
	args = b.Complete(args)
	nulls := b.Namespace == "" && b.input.get() != nil && bytes.Contains(args, []byte("null"))
	identity := b.Hints.Identity != nil && b.ReplayClass() != Read
	if nulls || identity || !bytes.HasPrefix(args, []byte("{")) || !json.Valid(args) {
		var err error
		if args, err = b.identity(args, identity); err != nil {
			return "", fmt.Errorf("tools: arguments of %s: %w", b.Path(), err)
		}
	}
	names, _ := json.Marshal([]string{b.Namespace, b.Name}) // cannot fail
	text := append(append(make([]byte, 0, 256), names[:len(names)-1]...), ',')
	sum := sha256.Sum256(append(canonical.Append(text, args), ']'))
	return string(sum[:]), nil
}

// identity returns the arguments without nulls that mean that there is no argument. If only is set, it returns only the
// arguments in Hints.Identity.
func (b *Binding) identity(args json.RawMessage, only bool) (json.RawMessage, error) {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber() // so that 2^53+1 and 2^53 differ
	if err := d.Decode(&object); err != nil {
		return nil, err
	}
	if input := b.input.get(); input != nil && b.Namespace == "" {
		object, _ = input.DropNulls(object).(map[string]any)
	}
	if only {
		maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(b.Hints.Identity, name) })
	}
	return json.Marshal(object)
}
