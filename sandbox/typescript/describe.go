package typescript

import "strings"

// language describes the features of compiled programs. TestDescribe tests all of them.
const language = "- Programs may be TypeScript. Types are removed, not checked. Async generators, for await, " +
	"decorators and using work.\n" +
	"- There are also URL, TextEncoder, TextDecoder, WeakRef, Promise.try, Array.fromAsync, and \\p{…} in regular " +
	"expressions.\n" +
	"- There is no require, fetch, process, fs or Intl.\n"

// Describe describes the language to models: see [sandbox.Compiler]. It lists the packages that are installed
// at the time of the call.
func (c *Compiler) Describe() string {
	if c != nil && c.packages != nil {
		if names := c.packages.Names(); len(names) > 0 {
			return language + "- These npm packages can be imported, and no others: " +
				strings.Join(names, ", ") + ".\n"
		}
	}
	return language + "- Nothing can be imported.\n"
}
