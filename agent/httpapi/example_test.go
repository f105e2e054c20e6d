package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/httpapi"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

type order struct {
	Order int `json:"order"`
}

// newRunner returns a Runner of an agent that may refund orders, after a person's approval.
func newRunner(ctx context.Context, box *sandbox.Sandbox) (*agent.Runner, error) {
	refund := tools.Func("refund", "Refunds an order.", func(_ context.Context, o order) (string, error) {
		return fmt.Sprintf("order %d is refunded", o.Order), nil
	}, &tools.Hints{Class: tools.Effect, Destructive: true})
	set, err := tools.NewSet(ctx, refund)
	if err != nil {
		return nil, err
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	model := llmtest.New("```js\nsubmit({answer: await refund({order: 7})})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		return nil, err
	}
	return agent.NewRunner(agent.NewRuns(journal.NewMemory()), bot, nil)
}

// A run is started by one request, and approved by another one.
func Example() {
	ctx := context.Background()
	box, err := sandbox.NewInProcess(nil) // sandbox.New for programs of real models
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	runner, err := newRunner(ctx, box)
	if err != nil {
		log.Fatal(err)
	}
	api, err := httpapi.New(runner, &httpapi.Options{Principal: func(r *http.Request) (string, error) {
		name, _, _ := r.BasicAuth() // your middleware has checked the password
		return name, nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", api))
	server := httptest.NewServer(mux)
	defer server.Close()

	var run agent.RunInfo
	request(server.URL, "POST", "/api/runs", `{"input": {"task": "Refund order 7."}}`, &run)
	fmt.Println(run.State)

	events := request(server.URL, "GET", "/api/runs/"+run.ID+"/events", "", nil) // until the run pauses
	fmt.Println(strings.Contains(events, "event: paused"))

	var list struct{ Tickets []agent.Waiting }
	request(server.URL, "GET", "/api/runs/"+run.ID+"/tickets", "", &list)
	ticket := list.Tickets[0]
	fmt.Println(ticket.Tool, string(ticket.Args))

	request(server.URL, "PUT", "/api/runs/"+run.ID+"/tickets/"+ticket.ID, `{"approved": true}`, nil)
	if _, err := runner.Wait(ctx, run.ID); err != nil {
		log.Fatal(err)
	}
	request(server.URL, "GET", "/api/runs/"+run.ID, "", &run)
	fmt.Println(run.State, string(run.Output))

	if err := runner.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// queued
	// true
	// refund {"order":7}
	// done {"answer":"order 7 is refunded"}
}

// request sends a request of ann, decodes the response into the variable that into points to, if any, and returns it.
func request(url, method, path, body string, into any) string {
	r, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	r.SetBasicAuth("ann", "secret")
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || resp.StatusCode >= 300 {
		log.Fatal(resp.Status, string(text), err)
	}
	return string(text)
}
