package serve

import (
	"context"
	"slices"
	"strings"
)

// Principal is who asks: one client, or all those that share a token.
type Principal struct {
	// Name tells principals apart: what one has, another can't see. It must not be
	// empty; see Tools.
	Name string

	// Tools are patterns of the tools it may use, in which * stands for any text:
	// "execute_code", "mail.*". Nil is all of them, but for a principal without a
	// name, who may use none; an empty list is none. [Run]
	// neither lists others to it nor calls them, whatever the server offers: they are
	// as if there were none. What a tool reaches by itself, such as the tools of other
	// servers, is for its handler to check, with Allows; so are resources and prompts.
	Tools []string
}

// local is who asks where nobody has to say who he is: on stdio, and over HTTP
// without authentication.
var local = Principal{Name: "local"}

// Allows reports whether the principal may use a tool of that name.
func (p Principal) Allows(tool string) bool {
	return p.unlimited() || slices.ContainsFunc(p.Tools, func(pattern string) bool { return fits(pattern, tool) })
}

// unlimited reports whether the principal may use all tools. The zero Principal, which is
// nobody, may not.
func (p Principal) unlimited() bool { return p.Tools == nil && p.Name != "" }

// same reports whether two principals are one, with the same rights.
func (p Principal) same(q Principal) bool {
	return p.Name == q.Name && (p.Tools == nil) == (q.Tools == nil) && slices.Equal(p.Tools, q.Tools)
}

// fits reports whether a name is what a pattern says, like those of policy.Tools.
func fits(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, parts[0])
	for _, part := range parts[1:last] {
		var found bool
		if _, name, found = strings.Cut(name, part); !found {
			return false
		}
	}
	return ok && strings.HasSuffix(name, parts[last])
}

type principalKey struct{}

// WithPrincipal is for hosts that serve in a way of their own, and for their
// tests: [Run] does it for every request.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns who makes the request, in the handlers of a server that [Run]
// serves. It returns false anywhere else, and for a principal without a name; then refuse
// whatever belongs to a principal.
func PrincipalOf(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok && p.Name != ""
}
