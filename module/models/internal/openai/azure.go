package openai

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/writ-go/writ/module/models/internal/wire"
)

// connect returns the client of a dialect, and the query that its requests have.
func connect(provider string, d dialect, o *wire.Options) (client wire.Client, query string, err error) {
	with := *o
	if d.azure {
		if with.BaseURL, query, err = azureURL(o.BaseURL); err != nil {
			return client, "", err
		}
	}
	client, err = wire.NewClient(provider, d.variable, d.url, d.local, &with)
	if d.azure && client.Key != "" {
		client.Header = http.Header{"Api-Key": {client.Key}}
	}
	return client, query, err
}

// azureURL returns the URL of Azure's API, whose version "v1" it is unless the URL has a path, and the query with the
// version of the API if the URL has one.
func azureURL(base string) (without, query string, err error) {
	if base == "" {
		return "", "", wire.Invalid("AZURE_OPENAI_ENDPOINT is not set; set it, or pass the endpoint of the resource as the " +
			"base URL, such as https://NAME.openai.azure.com")
	}
	u, err := url.Parse(base)
	if err != nil {
		return base, "", nil // NewClient refuses it
	}
	if version := u.Query().Get("api-version"); version != "" && len(u.Query()) == 1 {
		query, u.RawQuery = "?api-version="+url.QueryEscape(version), ""
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/openai/v1"
	}
	return u.String(), query, nil
}
