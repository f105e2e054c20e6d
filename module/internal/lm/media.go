package lm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// withoutURLs rewords the errors of providers that take images only as data. anthropic's
// and ollama's only name a Go type.
func withoutURLs(err error, messages []llms.MessageContent) error {
	if e := (*Error)(nil); errors.As(err, &e) || !slices.ContainsFunc(messages, showsURL) {
		return err
	}
	text := err.Error()
	if !strings.HasSuffix(text, "part type: llms.ImageURLContent") &&
		!strings.HasPrefix(text, "only support Text and BinaryContent parts") {
		return err
	}
	return &Error{Kind: KindInvalid,
		Err: fmt.Errorf("its provider does not accept image URLs; fetch the image and pass its data: %w", err)}
}

func showsURL(m llms.MessageContent) bool {
	return slices.ContainsFunc(m.Parts, func(p llms.ContentPart) bool {
		_, is := p.(llms.ImageURLContent)
		return is
	})
}
