package typescript

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/internal/bundling"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/internal/lru"
)

// library is the bundle of the modules that a program imports.
type library struct {
	text  string
	files bundling.Snapshot // nil if the bundle contains no packages
}

// The limits for the number and the total size of the cached libraries.
const (
	maxLibraries    = 32
	maxLibraryBytes = 32 << 20
)

func findingsOf(faults []fault) []sandbox.Finding {
	var list []sandbox.Finding
	for _, f := range faults {
		list = append(list, sandbox.Finding{Kind: sandbox.KindSyntax, Message: f.Message, Hint: f.Hint, Line: f.Line,
			Column: f.Column})
	}
	return list
}

// KindUnresolved is the kind of a finding about an import that cannot be resolved.
const KindUnresolved sandbox.Kind = "unresolved"

// refused returns a finding for each import that is not allowed or not installed.
func (c *Compiler) refused(imports []required) []sandbox.Finding {
	var list []sandbox.Finding
	for _, i := range imports {
		if message, hint := c.refusal(i.Module); message != "" {
			list = append(list, unresolved(i, message, hint))
		}
	}
	return list
}

func unresolved(i required, message, hint string) sandbox.Finding {
	return sandbox.Finding{Kind: KindUnresolved, Message: message, Hint: hint, Line: i.Line, Column: i.Column}
}

// refusal returns the reason why a module cannot be imported, and a hint. Both are empty if the module can be
// imported.
func (c *Compiler) refusal(module string) (message, hint string) {
	switch {
	case module == shimModule:
		return "", ""
	case c.packages == nil:
		return fmt.Sprintf("the package %.100q may not be imported", module),
			"no packages are available; the declared tools are globals"
	}
	return c.packages.Refusal(module)
}

// library returns the bundle for a list of imports, from the cache if possible.
func (c *Compiler) library(ctx context.Context, imports []required) (string, []sandbox.Finding, error) {
	wants := make([]want, len(imports))
	for i, r := range imports {
		wants[i] = r.want
	}
	text, _ := json.Marshal(wants) // cannot fail
	key := string(text)
	known, ok := c.libraries.Get(key)
	if ok && (known.files == nil || !known.files.Changed()) {
		return known.text, nil, nil
	}
	var files bundling.Snapshot
	host := fileHost{}
	if c.packages != nil {
		files = c.packages.Snapshot()
		host.files = files
	}
	var b bundled
	findings, err := c.run(ctx, task{Bundle: wants}, host, &b)
	if err != nil || findings != nil {
		return "", findings, err
	}
	for _, f := range b.Faults {
		i := imports[min(max(f.Want, 1), len(imports))-1]
		findings = append(findings, unresolved(i, f.Message, f.Hint))
	}
	if findings == nil {
		bounds := lru.Bounds{Entries: maxLibraries, Size: maxLibraryBytes}
		c.libraries.Add(key, library{b.Library, files}, len(b.Library), bounds)
	}
	return b.Library, findings, nil
}
