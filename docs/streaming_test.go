package docs_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// This example is shown in streaming.md.

type Wish struct {
	Dish string `json:"dish"`
}

type Ingredient struct {
	Name  string `json:"name"`
	Grams int    `json:"grams" jsonschema:"minimum=1"`
}

type Recipe struct {
	Title       string       `json:"title"`
	Ingredients []Ingredient `json:"ingredients"`
	Steps       []string     `json:"steps"`
}

func (r Recipe) Validate() error {
	if len(r.Steps) == 0 {
		return fmt.Errorf("the recipe has no steps")
	}
	return nil
}

var cooking = signature.Must(signature.New[Wish, Recipe]("Write a recipe."))

// recipes streams a recipe as server-sent events.
func recipes(model llms.Model) http.HandlerFunc {
	cook := module.NewPredict(cooking, model, &module.Options{Retries: 2})
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		stream := module.Start(r.Context(), cook, Wish{r.FormValue("dish")})
		for p, err := range stream.Partials() {
			if err != nil {
				fmt.Fprint(w, "event: failed\ndata: no recipe\n\n") // err is for the log
				break
			}
			data, err := schema.Marshal(p) // like encoding/json, but nil slices are []
			if err != nil {
				break
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
			if flush() != nil {
				break // the page was closed, which cancels the run
			}
		}
	}
}

func Example_streaming() {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text := "[[ ## title ## ]]\nSoup\n\n[[ ## ingredients ## ]]\n" + `[{"name": "water", "grams": 500}]` +
			"\n\n[[ ## steps ## ]]\n[]\n\n[[ ## completed ## ]]"
		if r.N == 2 {
			text = strings.Replace(text, "\n[]\n", "\n[\"Boil it.\"]\n", 1)
		}
		return llmtest.Reply{Text: text, Chunks: strings.SplitAfter(text, " ")}, nil
	})
	server := httptest.NewServer(recipes(model))
	defer server.Close()

	page, err := http.Get(server.URL + "?dish=soup")
	if err != nil {
		panic(err)
	}
	defer page.Body.Close()
	var last string
	begun := false
	for lines := bufio.NewScanner(page.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			begun = begun || strings.Contains(data, `"title":"Soup"`)
			last = data
		}
	}
	fmt.Println(begun, last)
	// Output:
	// true {"value":{"title":"Soup","ingredients":[{"name":"water","grams":500}],"steps":["Boil it."]},"reply":2,"complete":true}
}
