package models_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
)

// folder is a question with images and files.
type folder struct {
	Photo    signature.Image   `json:"photo"`
	Pages    []signature.Image `json:"pages,omitempty"`
	Papers   []signature.File  `json:"papers,omitempty"`
	Question string            `json:"question"`
}

type finding struct {
	Answer string `json:"answer"`
}

var reading = signature.Must(signature.New[folder, finding]("Look."))

const (
	png = "\x89PNG\r\n\x1a\n<&>"
	gif = "GIF89a"
	jpg = "\xff\xd8\xff"
	pdf = "%PDF-1.7"
)

// look asks a module, and returns the content of the message that was sent, from
// its second part on: the first is the text.
func look(t *testing.T, p provider, transport *models.Transport, in folder) (attached string, err error) {
	t.Helper()
	reply := strings.Replace(p.reply(), "Paris", `[[ ## answer ## ]]\nA lake.\n\n[[ ## completed ## ]]`, 1)
	s := serve(t, says(reply))
	model := p.open(t, s.URL, nil)
	if transport != nil {
		model = p.open(t, s.URL, transport)
	}
	pred, err := module.NewPredict(reading, model, nil).Run(t.Context(), in)
	if err != nil {
		return "", err
	}
	if pred.Output.Answer != "A lake." {
		t.Errorf("the answer is %q", pred.Output.Answer)
	}
	messages := s.last(t)["messages"].([]any)
	content := messages[len(messages)-1].(map[string]any)["content"].([]any)
	if first := content[0].(map[string]any); first["type"] != "text" || !strings.Contains(first["text"].(string), "(attachment 1)") {
		t.Errorf("the text is %v", first)
	}
	text, err := json.Marshal(content[1:])
	return string(text), err
}

// Defect 7: openai's provider sends a type of part that OpenAI does not have,
// anthropic's sends every file as an image.
func TestMedia(t *testing.T) {
	t.Parallel()
	file := func(mime, data string) folder {
		return folder{Photo: signature.Image{Data: []byte(jpg)}, Papers: []signature.File{{Name: "x", MIME: mime, Data: []byte(data)}}}
	}
	const openAIPhoto = `{"image_url":{"url":"data:image/jpeg;base64,/9j/"},"type":"image_url"}`
	const anthropicPhoto = `{"source":{"data":"/9j/","media_type":"image/jpeg","type":"base64"},"type":"image"}`
	for name, c := range map[string]struct {
		in   folder
		want map[provider]string
	}{
		"an image": {folder{Photo: signature.Image{Data: []byte(png)}}, map[provider]string{
			openAI:      `[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo8Jj4="},"type":"image_url"}]`,
			anthropicAI: `[{"source":{"data":"iVBORw0KGgo8Jj4=","media_type":"image/png","type":"base64"},"type":"image"}]`,
		}},
		"several images": {folder{Photo: signature.Image{URL: "data:image/png;base64,iVBORw0KGgo8Jj4="}, Pages: []signature.Image{{Data: []byte(gif)}, {Data: []byte(jpg)}}}, map[provider]string{
			openAI:      `[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo8Jj4="},"type":"image_url"},{"image_url":{"url":"data:image/gif;base64,R0lGODlh"},"type":"image_url"},` + openAIPhoto + `]`,
			anthropicAI: `[{"source":{"data":"iVBORw0KGgo8Jj4=","media_type":"image/png","type":"base64"},"type":"image"},{"source":{"data":"R0lGODlh","media_type":"image/gif","type":"base64"},"type":"image"},` + anthropicPhoto + `]`,
		}},
		"a PDF": {file("application/pdf", pdf), map[provider]string{
			openAI:      `[` + openAIPhoto + `,{"file":{"file_data":"data:application/pdf;base64,JVBERi0xLjc=","filename":"attachment-2.pdf"},"type":"file"}]`,
			anthropicAI: `[` + anthropicPhoto + `,{"source":{"data":"JVBERi0xLjc=","media_type":"application/pdf","type":"base64"},"title":"attachment 2","type":"document"}]`,
		}},
		"a text": {file("text/csv; charset=utf-8", "a,\"é\"\n"), map[provider]string{
			openAI:      `[` + openAIPhoto + `,{"text":"attachment 2:\na,\"é\"\n","type":"text"}]`,
			anthropicAI: `[` + anthropicPhoto + `,{"source":{"data":"a,\"é\"\n","media_type":"text/plain","type":"text"},"title":"attachment 2","type":"document"}]`,
		}},
		"a text that is not UTF-8": {file("text/csv", "\xe9"), map[provider]string{
			openAI:      `[` + openAIPhoto + `,{"file":{"file_data":"data:text/csv;base64,6Q==","filename":"attachment-2.csv"},"type":"file"}]`,
			anthropicAI: `[` + anthropicPhoto + `,{"source":{"data":"6Q==","media_type":"text/csv","type":"base64"},"title":"attachment 2","type":"document"}]`,
		}},
		"JSON": {file("application/vnd.api+json", "{}"), map[provider]string{
			openAI:      `[` + openAIPhoto + `,{"text":"attachment 2:\n{}","type":"text"}]`,
			anthropicAI: `[` + anthropicPhoto + `,{"source":{"data":"{}","media_type":"text/plain","type":"text"},"title":"attachment 2","type":"document"}]`,
		}},
		"audio": {file("audio/mpeg", "ID3"), map[provider]string{
			openAI:      `[` + openAIPhoto + `,{"input_audio":{"data":"SUQz","format":"mp3"},"type":"input_audio"}]`,
			anthropicAI: `[` + anthropicPhoto + `,{"source":{"data":"SUQz","media_type":"audio/mpeg","type":"base64"},"title":"attachment 2","type":"document"}]`,
		}},
		"a type without a short name": {file("application/vnd.ms-excel", "x"), map[provider]string{
			openAI:      `[` + openAIPhoto + `,{"file":{"file_data":"data:application/vnd.ms-excel;base64,eA==","filename":"attachment-2.bin"},"type":"file"}]`,
			anthropicAI: `[` + anthropicPhoto + `,{"source":{"data":"eA==","media_type":"application/vnd.ms-excel","type":"base64"},"title":"attachment 2","type":"document"}]`,
		}},
	} {
		eachProvider(t, func(t *testing.T, p provider) {
			got, err := look(t, p, &models.Transport{}, c.in)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got != c.want[p] {
				t.Errorf("%s: sent %s, want %s", name, got, c.want[p])
			}
		})
	}
}

// What providers send without the transport; when one does better, see above.
func TestMediaWithoutTransport(t *testing.T) {
	t.Parallel()
	in := folder{Photo: signature.Image{Data: []byte(jpg)}, Papers: []signature.File{{MIME: "application/pdf", Data: []byte(pdf)}}}
	want := map[provider]string{
		openAI:      `[{"binary":{"data":"/9j/","mime_type":"image/jpeg"},"type":"binary"},{"binary":{"data":"JVBERi0xLjc=","mime_type":"application/pdf"},"type":"binary"}]`,
		anthropicAI: `[{"source":{"data":"/9j/","media_type":"image/jpeg","type":"base64"},"type":"image"},{"source":{"data":"JVBERi0xLjc=","media_type":"application/pdf","type":"base64"},"type":"image"}]`,
	}
	eachProvider(t, func(t *testing.T, p provider) {
		got, err := look(t, p, nil, in)
		if err != nil || got != want[p] {
			t.Errorf("sent %s (%v), want %s", got, err, want[p])
		}
	})
}

// openai's provider passes the URL of an image on; anthropic's and ollama's have
// no place for one.
func TestImageURL(t *testing.T) {
	t.Parallel()
	in := folder{Photo: signature.Image{URL: "https://example.com/a.png?x=1&y=2"}, Papers: []signature.File{{MIME: "application/pdf", Data: []byte(pdf)}}}
	got, err := look(t, openAI, &models.Transport{}, in)
	want := `[{"image_url":{"url":"https://example.com/a.png?x=1\u0026y=2"},"type":"image_url"},{"file":{"file_data":"data:application/pdf;base64,JVBERi0xLjc=","filename":"attachment-2.pdf"},"type":"file"}]`
	if err != nil || got != want {
		t.Errorf("sent %s (%v), want %s", got, err, want)
	}
	_, err = look(t, anthropicAI, &models.Transport{}, in)
	const refusal = "the model: its provider takes no URLs of images; fetch the image, and give its data: "
	if e := failure(t, err); e.Kind != models.Invalid || e.Error() != refusal+"anthropic: failed to process messages: anthropic: failed to handle human message: anthropic: unsupported human message part type: llms.ImageURLContent" {
		t.Errorf("anthropic: %q, %v", e.Kind, e)
	}
	local, err := ollama.New(ollama.WithModel("llava"), ollama.WithServerURL("http://127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = models.Retry(local, nil).GenerateContent(t.Context(), []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.ImageURLPart("https://example.com")}}})
	if e := failure(t, err); e.Kind != models.Invalid || e.Error() != refusal+"only support Text and BinaryContent parts right now" {
		t.Errorf("ollama: %q, %v", e.Kind, e)
	}
}

// A mark for the provider's cache stays with the file.
func TestCachedFile(t *testing.T) {
	t.Parallel()
	s := serve(t, says(anthropicReply))
	file := llms.WithCacheControl(llms.BinaryPart("application/pdf", []byte(pdf)), &llms.CacheControl{Type: "ephemeral"})
	message := llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{file, llms.TextPart("What is it?")}}
	if _, err := lm.Ask(t.Context(), anthropicAI.open(t, s.URL, &models.Transport{}), lm.Call{}, []llms.MessageContent{message}); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(s.last(t)["messages"])
	want := `[{"content":[{"cache_control":{"type":"ephemeral"},"source":{"data":"JVBERi0xLjc=","media_type":"application/pdf","type":"base64"},"title":"attachment 1","type":"document"},{"text":"What is it?","type":"text"}],"role":"user"}]`
	if string(got) != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}
