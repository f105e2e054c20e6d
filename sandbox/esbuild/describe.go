package esbuild

import "strings"

// language describes the features of compiled programs. TestDescribe tests all of them.
const language = "- Programs may be TypeScript. Types are removed, not checked. Async generators, for await, " +
	"decorators and using work.\n" +
	"- There are also URL, TextEncoder, TextDecoder, WeakRef, Promise.try, Array.fromAsync, and \\p{…} in regular " +
	"expressions.\n" +
	"- There is no require, fetch, process, fs or Intl.\n"

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
	return language + "- These npm packages can be imported, and no others: " + strings.Join(names, ", ") + ".\n"
}
