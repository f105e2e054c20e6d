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
	"github.com/writ-go/writ/internal/jsonvalue"
)

// Image is an input that a module shows to the model as a picture, not as text. It has
// either Data or a URL, which the model's provider fetches. A field may be an Image, a
// *Image, a []Image or a *[]Image. Models that models.Open returns send the image in the
// provider's own format; the provider openai of langchaingo sends only URLs.
type Image struct {
	// URL is the picture's http or https URL. A data URL is equivalent to Data.
	URL string `json:"url,omitempty"`
	// MIME is Data's type, such as image/png. It may be empty for PNG, JPEG, GIF and WebP, because Writ detects these
	// formats.
	MIME string `json:"mime,omitempty"`
	// Data is the image file's content.
	Data []byte `json:"data,omitempty"`
}

// JSONSchema returns an image's schema.
func (Image) JSONSchema() *jsonschema.Schema { return mark(imageSchema, KindImage) }

const imageSchema = `{"type": "object", "properties": {"url": {"type": "string"}, "mime": {"type": "string"},
	"data": {"type": "string", "contentEncoding": "base64"}}, "additionalProperties": false}`

// File is an input that holds a document, such as a PDF, for models that can read documents.
// A field may be a File, a *File, a []File or a *[]File. Models that models.Open returns send
// the document in the provider's own format; the providers openai and anthropic of
// langchaingo do not send documents.
type File struct {
	// Name is the name shown to the model. It may be empty.
	Name string `json:"name,omitempty"`
	// MIME is Data's type, such as application/pdf.
	MIME string `json:"mime"`
	// Data is the file's content.
	Data []byte `json:"data"`
}

// JSONSchema returns a file's schema.
func (File) JSONSchema() *jsonschema.Schema { return mark(fileSchema, KindFile) }

const fileSchema = `{"type": "object", "properties": {"name": {"type": "string"}, "mime": {"type": "string"},
	"data": {"type": "string", "contentEncoding": "base64"}}, "required": ["mime", "data"],
	"additionalProperties": false}`

// Images returns the images in the value of a [KindImage] field, which is null, an image or a list of images. Each
// returned image has either a URL, or MIME and Data: Images decodes data URLs. The error says which image is invalid,
// and why.
func Images(value json.RawMessage) ([]Image, error) {
	return each(value, "image", Image.settled)
}

// Files returns the files in the value of a [KindFile] field, which is null, a file or a list of files. The error says
// which file is invalid, and why.
func Files(value json.RawMessage) ([]File, error) {
	return each(value, "file", File.settled)
}

// each decodes a field's value, which may be a list, and calls settle for each element.
func each[T any](value json.RawMessage, noun string, settle func(T) (T, error)) ([]T, error) {
	var all []T
	var err error
	switch first := bytes.TrimLeft(value, " \t\r\n"); {
	case bytes.HasPrefix(first, []byte("[")), string(first) == "null":
		err = jsonvalue.Strictly(value, &all)
	default:
		all = make([]T, 1)
		err = jsonvalue.Strictly(value, &all[0])
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

// settled checks an image, sets its MIME type if the image has data, and decodes a data URL.
func (i Image) settled() (Image, error) {
	switch {
	case i.URL == "" && len(i.Data) == 0:
		return i, errors.New("it has neither a URL nor data; set one of them")
	case i.URL != "" && len(i.Data) > 0:
		return i, errors.New("it has both a URL and data; set one of them")
	case i.URL != "" && i.MIME != "":
		return i, errors.New("it has both a URL and a MIME type; remove the MIME type, which is only for data")
	case strings.HasPrefix(i.URL, "data:"):
		return decodeURL(i.URL)
	case i.URL != "":
		return i, checkURL(i.URL)
	default:
		return i.typed()
	}
}

// typed sets the MIME type if it can be detected from the data.
func (i Image) typed() (Image, error) {
	if known := http.DetectContentType(i.Data); slices.Contains(detected, known) {
		i.MIME = known
	}
	switch {
	case i.MIME == "":
		return i, errors.New("its data is not PNG, JPEG, GIF or WebP; set MIME")
	case !pictureType.MatchString(i.MIME):
		return i, fmt.Errorf("its MIME type is %q; use a type such as image/png", i.MIME)
	default:
		return i, nil
	}
}

// detected are the image formats for which MIME may be empty. All providers accept them.
var detected = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// These patterns match MIME types according to RFC 6838. A file's type may have parameters.
var (
	pictureType = regexp.MustCompile(`^image/[\w!#$&^.+-]+$`)
	fileType    = regexp.MustCompile(`^[\w!#$&^.+-]+/[\w!#$&^.+-]+( ?;[ -~]+)?$`)
)

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("its URL is invalid: %w", err)
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
		return Image{}, errors.New("its data URL does not have the form data:image/png;base64,…; set Data and MIME " +
			"instead")
	}
	return Image{MIME: mime, Data: raw}.typed()
}

func (f File) settled() (File, error) {
	switch {
	case f.MIME == "":
		return f, errors.New("it has no MIME type; set one, such as application/pdf")
	case !fileType.MatchString(f.MIME):
		return f, fmt.Errorf("its MIME type is %q; use a type such as application/pdf", f.MIME)
	case len(f.Data) == 0:
		return f, errors.New("it is empty; set Data")
	default:
		return f, nil
	}
}
