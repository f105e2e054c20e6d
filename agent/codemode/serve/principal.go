package serve

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/glob"
)

// Principal is an authenticated client, or all clients that share a token.
type Principal struct {
	// Name identifies the principal. It must be valid UTF-8 and not empty. Principals cannot
	// see each other's sessions and state.
	Name string

	// Tools are patterns of the tools that the principal may use, in which * matches any string: "execute_code",
	// "mail.*". Nil allows all tools; an empty list allows no tools. A principal without a valid name may use no tools
	// at all. [Run] neither lists nor calls tools that are not allowed. If a tool's handler itself uses something
	// restricted, such as other servers' tools, it must call Allows; so must the handlers of resources and prompts.
	Tools []string
}

// local is the principal of clients without authentication: on stdio, and over HTTP without
// Auth.
var local = Principal{Name: "local"}

// Allows reports whether the principal may use the tool.
func (p Principal) Allows(tool string) bool {
	allowed := func(pattern string) bool { return glob.Match(pattern, tool) }
	return p.unlimited() || p.named() && slices.ContainsFunc(p.Tools, allowed)
}

// named reports whether the name is valid. Different names with invalid UTF-8 could become equal in JSON.
func (p Principal) named() bool { return p.Name != "" && utf8.ValidString(p.Name) }

// unlimited reports whether the principal may use all tools. For the zero Principal, it is false.
func (p Principal) unlimited() bool { return p.Tools == nil && p.named() }

// same reports whether two principals have the same name and rights.
func (p Principal) same(q Principal) bool {
	return p.Name == q.Name && (p.Tools == nil) == (q.Tools == nil) && slices.Equal(p.Tools, q.Tools)
}

type principalKey struct{}

// WithPrincipal returns a context with a principal. It is for tests, for hosts that use neither
// [Run] nor a [Handler], and for middleware that authenticates the clients of a Handler without
// Options.Auth.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns the principal that made a request. It works in the handlers of a server that [Run] or a [Handler]
// serves. It returns false in other contexts, and for a principal without a valid name. If it returns false, deny
// access to everything that belongs to a principal.
func PrincipalOf(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok && p.named()
}
