package models

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"
)

// hasMedia says whether part of a request may be an image or a file. Providers
// write JSON without spaces.
func hasMedia(text []byte) bool {
	return bytes.Contains(text, []byte(`"type":"binary"`)) || bytes.Contains(text, []byte(`"type":"image"`))
}

// withMedia gives the images and files in messages their right form.
func withMedia(messages []byte) []byte {
	if !hasMedia(messages) {
		return messages
	}
	list, ok := items(messages, '[')
	if !ok {
		return messages
	}
	for i, message := range list {
		members, ok := items(message, '{')
		if !ok {
			return messages
		}
		for j, m := range members {
			if name, value := member(m); name == "content" {
				members[j] = named(name, withParts(value))
			}
		}
		list[i] = joined('{', members)
	}
	return joined('[', list)
}

// withParts does so with the parts of one message.
func withParts(content []byte) []byte {
	parts, ok := items(content, '[')
	if !ok {
		return content
	}
	number := 0
	for i, text := range parts {
		var p sent
		if json.Unmarshal(text, &p) != nil || p.Type == "text" {
			continue
		}
		number++
		right := p.mended(number)
		if right == nil {
			continue
		}
		if changed, err := json.Marshal(right); err == nil {
			parts[i] = changed
		}
	}
	return joined('[', parts)
}

// sent is what providers make of an llms.BinaryContent.
type sent struct {
	Type   string
	Binary struct { // of openai's
		MIME string `json:"mime_type"`
		Data string
	}
	Source struct { // of anthropic's
		Type string
		MIME string `json:"media_type"`
		Data string
	}
	CacheControl json.RawMessage `json:"cache_control"`
}

// mended is the part as it has to be, nil if it is right.
func (p *sent) mended(number int) object {
	switch {
	case p.Type == "binary":
		return newAttachment(number, p.Binary.MIME, p.Binary.Data).openAI()
	case p.Type == "image" && p.Source.Type == "base64" && !strings.HasPrefix(p.Source.MIME, "image/"):
		return newAttachment(number, p.Source.MIME, p.Source.Data).anthropic(p.CacheControl)
	}
	return nil
}

// attachment is an image or a file in a message.
type attachment struct {
	number int // by which the question of a module speaks of it
	mime   string
	data   string // in base64
}

func newAttachment(number int, mimeType, data string) attachment {
	if plain, _, err := mime.ParseMediaType(mimeType); err == nil {
		mimeType = plain
	}
	return attachment{number, mimeType, data}
}

// object is a JSON object.
type object map[string]any

// openAI is the part of a message that OpenAI's chat completions document: images
// as URLs, audio in two formats, text as text, and other files by their name and
// content.
func (a attachment) openAI() object {
	if text, ok := a.text(); ok {
		return object{"type": "text", "text": fmt.Sprintf("attachment %d:\n%s", a.number, text)}
	}
	url := "data:" + a.mime + ";base64," + a.data
	if strings.HasPrefix(a.mime, "image/") {
		return object{"type": "image_url", "image_url": object{"url": url}}
	}
	if format := audioFormats[a.mime]; format != "" {
		return object{"type": "input_audio", "input_audio": object{"data": a.data, "format": format}}
	}
	return object{"type": "file", "file": object{"filename": a.filename(), "file_data": url}}
}

var audioFormats = map[string]string{
	"audio/wav": "wav", "audio/wave": "wav", "audio/x-wav": "wav", "audio/vnd.wave": "wav",
	"audio/mpeg": "mp3", "audio/mp3": "mp3",
}

// anthropic is the document that Anthropic's messages have for what is no image.
func (a attachment) anthropic(cache json.RawMessage) object {
	source := object{"type": "base64", "media_type": a.mime, "data": a.data}
	if text, ok := a.text(); ok {
		source = object{"type": "text", "media_type": "text/plain", "data": text}
	}
	document := object{"type": "document", "title": fmt.Sprintf("attachment %d", a.number), "source": source}
	if cache != nil {
		document["cache_control"] = cache
	}
	return document
}

// text is what the file says, if it is text.
func (a attachment) text() (string, bool) {
	if !textual(a.mime) {
		return "", false
	}
	text, err := base64.StdEncoding.DecodeString(a.data)
	return string(text), err == nil && utf8.Valid(text)
}

func textual(mimeType string) bool {
	kind, format, _ := strings.Cut(mimeType, "/")
	switch {
	case kind == "text":
		return true
	case kind != "application":
		return false
	case strings.HasSuffix(format, "+json"), strings.HasSuffix(format, "+xml"):
		return true
	}
	return format == "json" || format == "xml" || format == "yaml" || format == "javascript"
}

// filename is a name for the file: llms.BinaryContent has none, and OpenAI wants
// one.
func (a attachment) filename() string {
	_, extension, _ := strings.Cut(a.mime, "/")
	if len(extension) > 5 || strings.Trim(extension, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		extension = "bin"
	}
	return fmt.Sprintf("attachment-%d.%s", a.number, extension)
}
