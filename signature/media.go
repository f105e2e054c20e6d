package signature

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// Image is an input that is a picture. It has either a URL, which the model's provider
// fetches, or Data. A field may be an Image, a *Image, a []Image or a *[]Image; a module
// shows it to the model as a picture, not as text. Models of models.Open send it in the
// provider's own format; langchaingo's openai provider sends pictures only as URLs.
type Image struct {
	// URL is the http or https URL of the picture. A data URL is the same as Data.
	URL string `json:"url,omitempty"`
	// MIME is the type of the data, such as image/png. It may be empty for PNG, JPEG,
	// GIF and WebP, which are detected.
	MIME string `json:"mime,omitempty"`
	// Data is the content of the image file.
	Data []byte `json:"data,omitempty"`
}

// JSONSchema returns the schema of an image.
func (Image) JSONSchema() *jsonschema.Schema { return mark(imageSchema, KindImage) }

const imageSchema = `{"type": "object", "properties": {"url": {"type": "string"}, "mime": {"type": "string"},
	"data": {"type": "string", "contentEncoding": "base64"}}, "additionalProperties": false}`

// File is an input that is a document, such as a PDF, for models that read documents. A
// field may be a File, a *File, a []File or a *[]File. Models of models.Open send it in the
// provider's own format; langchaingo's openai and anthropic providers do not send
// documents.
type File struct {
	// Name is the name shown to the model. It may be empty.
	Name string `json:"name,omitempty"`
	// MIME is the type of the data, such as application/pdf.
	MIME string `json:"mime"`
	// Data is the content of the file.
	Data []byte `json:"data"`
}

// JSONSchema returns the schema of a file.
func (File) JSONSchema() *jsonschema.Schema { return mark(fileSchema, KindFile) }

const fileSchema = `{"type": "object", "properties": {"name": {"type": "string"}, "mime": {"type": "string"},
	"data": {"type": "string", "contentEncoding": "base64"}}, "required": ["mime", "data"], "additionalProperties": false}`

// Images returns the images in the value of a field of [KindImage], which is null, an image
// or a list. Each image has a URL, or MIME and Data; data URLs are decoded. The error says
// which image is invalid and why.
func Images(value json.RawMessage) ([]Image, error) {
	return each(value, "image", Image.settled)
}

// Files returns the files in the value of a field of [KindFile], which is null, a file
// or a list. The error says which file is invalid, and why.
func Files(value json.RawMessage) ([]File, error) {
	return each(value, "file", File.settled)
}

// each decodes the value of a field, which may be a list.
func each[T any](value json.RawMessage, noun string, settle func(T) (T, error)) ([]T, error) {
	var all []T
	var err error
	switch first := bytes.TrimLeft(value, " \t\r\n"); {
	case bytes.HasPrefix(first, []byte("[")), string(first) == "null":
		err = json.Unmarshal(value, &all)
	default:
		all = make([]T, 1)
		err = json.Unmarshal(value, &all[0])
	}
	for i := 0; i < len(all) && err == nil; i++ {
		if all[i], err = settle(all[i]); err != nil && len(all) > 1 {
			noun = fmt.Sprintf("%s %d", noun, i+1)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", noun, err)
	}
	return all, nil
}

// settled checks an image, sets its MIME type and decodes a data URL.
func (i Image) settled() (Image, error) {
	switch {
	case i.URL == "" && len(i.Data) == 0:
		return i, errors.New("it has neither a URL nor data; set one of them")
	case i.URL != "" && len(i.Data) > 0:
		return i, errors.New("it has both a URL and data; set one of them")
	case i.URL != "" && i.MIME != "":
		return i, errors.New("it has both a URL and a MIME type, which is only for data; remove the MIME type")
	case strings.HasPrefix(i.URL, "data:"):
		return decodeURL(i.URL)
	case i.URL != "":
		return i, checkURL(i.URL)
	default:
		return i.typed()
	}
}

// typed sets the MIME type that the first bytes of the data show.
func (i Image) typed() (Image, error) {
	if known := http.DetectContentType(i.Data); slices.Contains(detected, known) {
		i.MIME = known
	}
	switch {
	case i.MIME == "":
		return i, errors.New("its data is not PNG, JPEG, GIF or WebP; set MIME")
	case !pictureType.MatchString(i.MIME):
		return i, fmt.Errorf("its MIME type is %q; write one such as image/png", i.MIME)
	default:
		return i, nil
	}
}

// detected are the image formats that all providers accept.
var detected = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// MIME types according to RFC 6838; those of files may have parameters.
var (
	pictureType = regexp.MustCompile(`^image/[\w!#$&^.+-]+$`)
	fileType    = regexp.MustCompile(`^[\w!#$&^.+-]+/[\w!#$&^.+-]+( ?;[ -~]+)?$`)
)

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("its URL cannot be read: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q is not a URL that a provider can fetch; read the file, and set Data", text)
	}
	return nil
}

// decodeURL reads a data URL: data:image/png;base64,…
func decodeURL(text string) (Image, error) {
	mime, data, found := strings.Cut(strings.TrimPrefix(text, "data:"), ";base64,")
	raw, err := base64.StdEncoding.DecodeString(data)
	if !found || err != nil || mime == "" || len(raw) == 0 {
		return Image{}, errors.New("its data URL is not of the form data:image/png;base64,… ; set Data and MIME instead")
	}
	return Image{MIME: mime, Data: raw}.typed()
}

func (f File) settled() (File, error) {
	switch {
	case f.MIME == "":
		return f, errors.New("it has no MIME type; set one, such as application/pdf")
	case !fileType.MatchString(f.MIME):
		return f, fmt.Errorf("its MIME type is %q; write one such as application/pdf", f.MIME)
	case len(f.Data) == 0:
		return f, errors.New("it is empty; set Data")
	default:
		return f, nil
	}
}
