package openai

import (
	"net/http"
	neturl "net/url"
	"strings"

	"github.com/writ-go/writ/module/models/internal/wire"
)

// connect returns the client of a dialect, and the query of its requests.
func connect(d dialect, o *wire.Options) (client wire.Client, query string, err error) {
	if !d.azure {
		client, err = wire.NewClient(o.Dialect, d.variable, d.url, d.local, o)
		return client, "", err
	}
	with := *o
	if with.BaseURL, query, err = azureURL(o.BaseURL); err != nil {
		return client, "", err
	}
	if client, err = wire.NewClient(o.Dialect, d.variable, "", false, &with); client.Key != "" {
		client.Header = http.Header{"Api-Key": {client.Key}}
	}
	return client, query, err
}

// azureURL returns a URL of Azure's API, by default of its version "v1", and the query that selects another version.
func azureURL(base string) (url, query string, err error) {
	if base == "" {
		return "", "", wire.Invalid("AZURE_OPENAI_ENDPOINT is not set; set it to the resource's endpoint, such as " +
			"https://NAME.openai.azure.com, or pass it as the base URL")
	}
	if at := strings.Index(base, "?api-version="); at >= 0 {
		base, query = base[:at], base[at:]
	}
	if u, err := neturl.Parse(base); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" {
		return u.JoinPath("openai/v1").String(), query, nil
	}
	return base, query, nil
}
