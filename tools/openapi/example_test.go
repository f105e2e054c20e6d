package openapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/openapi"
)

const document = `
openapi: 3.1.0
info: {title: shop, version: "1"}
paths:
  /orders/{id}:
    get:
      tags: [orders]
      operationId: orders/get
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses:
        "200":
          description: The order.
          content:
            application/json:
              schema: {type: object, required: [item], properties: {item: {type: string}}}
`

func Example() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" || r.URL.Path != "/orders/7" {
			http.Error(w, `{"message":"no such order"}`, http.StatusNotFound)
			return
		}
		fmt.Fprint(w, `{"item": "tea"}`)
	}))
	defer server.Close()
	api, err := openapi.Parse([]byte(document), &openapi.Options{
		BaseURL: server.URL,
		Prepare: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer s3cret")
			return nil
		},
	})
	if err != nil {
		panic(err)
	}
	set, err := tools.NewSet(ctx, api)
	if err != nil {
		panic(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	for _, id := range []string{"7", "8"} {
		out, err := box.Run(ctx, sandbox.Program{
			Source: `(await shop.orders_get({id})).item`, Inputs: map[string]any{"id": id}, Tools: set,
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(out.Value), out.Calls[0].Error)
	}
	// Output:
	// "tea" <nil>
	//  tool shop.orders_get: 404 Not Found: {"message":"no such order"}
}
