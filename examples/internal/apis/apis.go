// Package apis opens the OpenAPI documents of the flag -openapi.
package apis

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/openapi"
)

// Flag defines the flag. Each occurrence adds an API to the list.
func Flag(flags *flag.FlagSet, list *[]tools.Source) {
	flags.Func("openapi", "`file` with an OpenAPI document whose operations are tools, or file=URL if the API is "+
		"elsewhere than the document says; if shop.json is the file, SHOP_TOKEN is the bearer token; repeatable",
		func(text string) error {
			file, base, _ := strings.Cut(text, "=")
			api, err := openapi.Open(file, &openapi.Options{BaseURL: base, Prepare: bearer(file)})
			if err == nil {
				*list = append(*list, api)
			}
			return err
		})
}

// bearer returns the function that sends the token of a file's API, if there is one.
func bearer(file string) func(*http.Request) error {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	token := os.Getenv(strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_TOKEN")
	return func(r *http.Request) error {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}
}
