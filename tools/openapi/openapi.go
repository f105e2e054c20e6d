package openapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/keepalive"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/origin"
)

// Options configure an API. The zero value of every field is its default, and nil Options are the defaults.
type Options struct {
	// Name begins the namespaces of the tools. It must be unique in a [tools.Set]. The default is the file's name
	// without its extension, or, with [Parse], the document's title.
	Name string

	// BaseURL is the address of the API, such as https://api.example.com/v1. It replaces the document's servers, and is
	// required if the document has no complete address.
	BaseURL string

	// Prepare is called with each request before it is sent, to set credentials: a header, or a query parameter. It
	// must not change the scheme and the host of the URL. The request has the context of the call, so that the caller's
	// identity can reach the API. If Prepare returns an error, the call is not made. What Prepare sets is removed from
	// error messages. Prepare is called concurrently.
	Prepare func(*http.Request) error

	// Transport sends the requests, for proxies and certificates. Nil means a copy of [http.DefaultTransport] that
	// keeps more idle connections.
	Transport http.RoundTripper

	// Timeout limits the time of a call. Zero means 60 seconds.
	Timeout time.Duration

	// MaxResult is the maximum size in bytes of a decompressed response. Zero means 4 MiB.
	MaxResult int
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.Transport = cmp.Or(d.Transport, keepalive.Transport())
	d.Timeout = cmp.Or(d.Timeout, time.Minute)
	d.MaxResult = cmp.Or(d.MaxResult, 4<<20)
	return d
}

// API is a [tools.Source] with a tool for each operation of a document. It is safe for concurrent use.
type API struct {
	o           Options
	base        *url.URL // nil until the first operation, if only operations name servers
	credentials map[string]bool
	secrets     origin.Secrets
	tools       []*tools.Tool
	warnings    []string
}

// Open reads a document in JSON or YAML from a file.
func Open(file string, o *Options) (*API, error) {
	d := o.withDefaults()
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	defer f.Close()
	document, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	d.Name = cmp.Or(d.Name, name)
	api, err := Parse(document, &d)
	if err != nil {
		return nil, fmt.Errorf("%w (file %s)", err, file)
	}
	return api, nil
}

// Parse reads a document of up to 32 MiB in JSON or YAML. It reads no other documents: a $ref to one is an error.
func Parse(document []byte, o *Options) (a *API, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = nil, fmt.Errorf("openapi: cannot read the document: the parser crashed: %v", p)
		}
	}()
	a = &API{o: o.withDefaults()}
	doc, err := load(document)
	if err == nil {
		err = a.bind(doc)
	}
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return a, nil
}

// Tools implements [tools.Source].
func (a *API) Tools(context.Context) ([]*tools.Tool, error) { return a.tools, nil }

// Warnings says which operations are not tools, and why, and which tools were renamed.
func (a *API) Warnings() []string { return a.warnings }

// maxDocument is the maximum size of a document in bytes.
const maxDocument = 32 << 20

// limits are limits of a document in JSON. A value takes up to a hundred times as much memory as its text.
var limits = jsonscan.Limits{Values: 4 << 20, Depth: 200}

// load decodes a document and resolves its references.
func load(document []byte) (doc *openapi3.T, err error) {
	if len(document) > maxDocument {
		return nil, fmt.Errorf("the document has more than %d bytes; leave out parts of it", maxDocument)
	}
	document = bytes.TrimSpace(bytes.TrimPrefix(document, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(document, []byte("<")):
		return nil, errors.New("the document is HTML or XML; download the OpenAPI document itself")
	case bytes.HasPrefix(document, []byte("{")):
		if err := jsonscan.Check(document, limits); err != nil {
			return nil, fmt.Errorf("the document is too complex: %w", err)
		}
	case bytes.Count(document, []byte(","))+bytes.Count(document, []byte("\n")) > limits.Values: // YAML
		return nil, fmt.Errorf("the document is too complex: it has more than %d lines and commas", limits.Values)
	}
	switch doc, err = openapi3.NewLoader().LoadFromData(document); {
	case err != nil:
		text := display.Cut(display.OneLine(err.Error()), 500)
		if strings.Contains(text, "disallowed external reference") {
			text += "; no other document is read: bundle the documents into one file first"
		}
		return nil, fmt.Errorf("cannot read the document: %s", text)
	case !strings.HasPrefix(doc.OpenAPI, "3.0") && !strings.HasPrefix(doc.OpenAPI, "3.1"):
		return nil, fmt.Errorf("the document's version is %q; convert it to OpenAPI 3.0 or 3.1 first", doc.OpenAPI)
	}
	return doc, nil
}

// bind makes the tools.
func (a *API) bind(doc *openapi3.T) (err error) {
	if a.o.BaseURL != "" {
		doc.Servers = openapi3.Servers{{URL: a.o.BaseURL}}
	}
	if len(doc.Servers) > 0 {
		if a.base, err = address(doc.Servers); err != nil {
			return err
		}
	}
	if a.o.Name == "" && doc.Info != nil {
		a.o.Name = doc.Info.Title
	}
	a.o.Name = tidy(cmp.Or(a.o.Name, "api"))
	a.credentials = map[string]bool{}
	if doc.Components != nil {
		for _, r := range doc.Components.SecuritySchemes {
			if r != nil && r.Value != nil {
				a.credentials[credential(r.Value.In, r.Value.Name)] = true
			}
		}
	}
	if a.bindAll(doc); len(a.tools) == 0 {
		return fmt.Errorf("the document has no operation that can be a tool\n%s",
			display.Cut(display.Text(strings.Join(a.warnings, "\n")), 1000))
	}
	return nil
}

// credential returns the key of a parameter in API.credentials. Many servers ignore the case of names.
func credential(place, name string) string { return strings.ToLower(place + " " + name) }

// address returns the address of the first server, with the defaults of its variables.
func address(servers openapi3.Servers) (*url.URL, error) {
	server := cmp.Or(servers[0], &openapi3.Server{})
	text := server.URL
	for name, v := range server.Variables {
		if v != nil {
			text = strings.ReplaceAll(text, "{"+name+"}", v.Default)
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || climbs(u.Path) {
		if u != nil && u.User != nil {
			text = u.Redacted()
		}
		return nil, fmt.Errorf("the server's address %s cannot be used; set Options.BaseURL to an address such as "+
			"https://api.example.com/v1", jsonvalue.Quote(display.Cut(text, 200)))
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}
