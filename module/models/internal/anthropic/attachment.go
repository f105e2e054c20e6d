package anthropic

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// attachment encodes an image or a document. Modules' prompts refer to attachments by their number within the message.
func attachment(number int, part llms.ContentPart) (object, error) {
	switch p := part.(type) {
	case llms.BinaryContent:
		return binary(number, p.MIMEType, p.Data)
	case llms.ImageURLContent:
		target := object{"type": "url", "url": p.URL}
		if u, err := url.Parse(p.URL); err == nil && strings.EqualFold(path.Ext(u.Path), ".pdf") {
			return document(number, target), nil
		}
		return object{"type": "image", "source": target}, nil
	}
	return nil, wire.Invalid("a message has a %T, which the Anthropic provider cannot send", part)
}

func binary(number int, mediaType string, data []byte) (object, error) {
	mediaType = wire.MediaType(mediaType)
	encoded := object{"type": "base64", "media_type": mediaType, "data": base64.StdEncoding.EncodeToString(data)}
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		return object{"type": "image", "source": encoded}, nil
	case mediaType == "application/pdf":
		return document(number, encoded), nil
	case utf8.Valid(data):
		return document(number, object{"type": "text", "media_type": "text/plain", "data": string(data)}), nil
	}
	return nil, wire.Invalid("attachment %d is of type %q, which Claude does not read; send an image, a PDF or text",
		number, mediaType)
}

func document(number int, source object) object {
	return object{"type": "document", "title": fmt.Sprintf("attachment %d", number), "source": source}
}
