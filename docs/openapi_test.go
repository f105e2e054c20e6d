package docs_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/openapi"
)

// openShop is the code of the section "REST APIs" in adding-servers.md.
func openShop(ctx context.Context, address, token string) (*tools.Set, error) {
	shop, err := openapi.Open("shop.yaml", &openapi.Options{
		BaseURL: address, // if it is not in the document
		Prepare: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	set, err := tools.NewSet(ctx, shop)
	return set, err
}

// largeShop returns a document with 1,000 operations.
func largeShop() string {
	var paths strings.Builder
	paths.WriteString("openapi: 3.0.0\ninfo: {title: Shop, version: '1'}\npaths:\n")
	for i := range 499 {
		fmt.Fprintf(&paths, `  /things%[1]d/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      {tags: [things%[2]d], operationId: get_thing%[1]d, summary: Get a thing., responses: {"200": {description: ok}}}
    post:
      {tags: [things%[2]d], operationId: set_thing%[1]d, summary: Set a thing., responses: {"200": {description: ok}}}
`, i, i%20)
	}
	paths.WriteString(`  /invoices/{number}:
    parameters: [{name: number, in: path, required: true, schema: {type: string}}]
    get:
      {tags: [invoices], operationId: invoices/get, summary: Returns an invoice., responses: {"200": {description: ok}}}
  /invoices/{number}/archive:
    parameters: [{name: number, in: path, required: true, schema: {type: string}}]
    post:
      {tags: [invoices], operationId: invoices/archive, summary: Archives one., responses: {"200": {description: ok}}}
`)
	return paths.String()
}

// An agent finds an operation among 1,000 and calls it, with the host's credentials.
func TestRESTAPI(t *testing.T) {
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"state": "archived"}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte(largeShop()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	set, err := openShop(t.Context(), server.URL, "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New(
		"```js\nconsole.log(await tools.search(\"archive an invoice\", {limit: 1, declare: true}));\n```",
		"```js\nconst r = await shop.invoices_archive({number: \"A-7\"});\nsubmit({answer: r.state});\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(t.Context(), agent.Task{Task: "Tidy up."})
	if err != nil || pred.Output.Answer != "archived" {
		t.Fatalf("got %v, %v", pred.Output, err)
	}
	if got, want := strings.Join(requests, "\n"), "POST /invoices/A-7/archive Bearer s3cret"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if prompt := model.Requests()[1].Text(); set.Len() != 1000 || len(prompt) > 40_000 ||
		!strings.Contains(prompt, "archive(args: {number: string})") {
		t.Errorf("%d tools, a prompt of %d bytes:\n%s", set.Len(), len(prompt), prompt)
	}
}
