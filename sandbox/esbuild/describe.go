package esbuild

import "strings"

// What a compiled program can be, besides what it imports. TestDescribe tries all of it.
const language = `- Programs are TypeScript or JavaScript. Types are taken out, and not checked. Async generators, for await, decorators and using work.
- There are also: URL, TextEncoder, TextDecoder, WeakRef, Promise.try, Array.fromAsync, \p{…} in regular expressions.
- There are not: require, fetch, process, Buffer, performance, AbortController, Intl, other locales, eval, iterator helpers, the flag d in regular expressions.
`

// Describe implements [sandbox.Describer].
func (b *Bundler) Describe() string {
	return language + "- Nothing can be imported.\n"
}

// Describe implements [sandbox.Describer]. It names the packages that are installed when
// it is called.
func (p *packages) Describe() string {
	names := p.present()
	if len(names) == 0 {
		return language + "- Nothing can be imported.\n"
	}
	return language + "- import works, of these npm packages and no others: " + strings.Join(names, ", ") + ".\n"
}
