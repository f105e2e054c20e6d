// Package tokentest holds the estimate of tokens against a tokenizer that models
// use. It is a module of its own, so that the tokenizer's vocabularies are no
// burden of the library.
package tokentest
