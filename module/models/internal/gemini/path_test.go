package gemini

import (
	"context"
	"testing"

	"github.com/writ-go/writ/module/models/internal/wire"
)

// Each service and kind of model has its own address.
func TestAddress(t *testing.T) {
	t.Parallel()
	token := func(context.Context) (string, error) { return "t", nil }
	project := func(location string) *wire.Options {
		return &wire.Options{Token: token, Project: "acme", Location: location}
	}
	for want, test := range map[string]struct {
		open  func(string, *wire.Options) (*Model, error)
		model string
		o     *wire.Options
	}{
		"https://generativelanguage.googleapis.com/v1beta/models/m:x":   {New, "m", &wire.Options{Key: "k"}},
		"https://generativelanguage.googleapis.com/v1beta/tuned/m%3F:x": {New, "tuned/m?", &wire.Options{Key: "k"}},
		"http://proxy/v1beta/models/m:x": {New, "m",
			&wire.Options{Key: "k", BaseURL: "http://proxy/v1beta/openai/"}},
		"https://aiplatform.googleapis.com/v1beta1/publishers/google/models/m:x": {NewVertex, "m", &wire.Options{Key: "k"}},
		"https://aiplatform.googleapis.com/v1beta1/projects/acme/locations/global/publishers/google/models/m:x": {
			NewVertex, "m", project("global")},
		"https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/acme/locations/eu/endpoints/7:x": {
			NewVertex, "endpoints/7", project("eu")},
		"https://us-east1-aiplatform.googleapis.com/v1beta1/projects/other/locations/us-east1/endpoints/7:x": {
			NewVertex, "projects/other/locations/us-east1/endpoints/7", project("us-east1")},
	} {
		m, err := test.open(test.model, test.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.client.BaseURL + m.path(test.model, "x"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
