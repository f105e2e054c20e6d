// Package tokentest compares the estimate of tokens with a tokenizer that models use. It is a separate module, so that
// the library does not depend on the tokenizer's vocabularies.
package tokentest
