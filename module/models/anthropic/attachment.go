package anthropic

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"
)

// source is where the bytes of an image or a document are.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// attachment is the block of an image or a document. The number is by which the question
// of a module speaks of it.
func attachment(number int, part llms.ContentPart) (*block, error) {
	switch p := part.(type) {
	case llms.BinaryContent:
		return binary(number, p.MIMEType, p.Data)
	case llms.ImageURLContent:
		return linked(number, p.URL)
	}
	return nil, invalid("a message has a %T, which the Anthropic provider cannot send", part)
}

func binary(number int, mediaType string, data []byte) (*block, error) {
	if plain, _, err := mime.ParseMediaType(mediaType); err == nil {
		mediaType = plain
	}
	encoded := &source{Type: "base64", MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)}
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		return &block{Type: "image", Source: encoded}, nil
	case mediaType == "application/pdf":
		return document(number, encoded), nil
	case utf8.Valid(data):
		return document(number, &source{Type: "text", MediaType: "text/plain", Data: string(data)}), nil
	}
	return nil, invalid("attachment %d is of type %q, which Claude does not read; send an image, a PDF or text",
		number, mediaType)
}

func linked(number int, link string) (*block, error) {
	if strings.HasPrefix(link, "data:") {
		return inline(number, link)
	}
	target := &source{Type: "url", URL: link}
	if u, err := url.Parse(link); err == nil && strings.EqualFold(path.Ext(u.Path), ".pdf") {
		return document(number, target), nil
	}
	return &block{Type: "image", Source: target}, nil
}

// inline reads a data URL.
func inline(number int, link string) (*block, error) {
	mediaType, encoded, ok := strings.Cut(strings.TrimPrefix(link, "data:"), ";base64,")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return nil, invalid("attachment %d is a data URL that is not in base64; encode it, or pass the bytes", number)
	}
	return binary(number, mediaType, data)
}

func document(number int, s *source) *block {
	return &block{Type: "document", Title: fmt.Sprintf("attachment %d", number), Source: s}
}
