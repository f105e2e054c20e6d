package serve

import (
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type Handler struct{ http.Handler }

func NewHandler(func(Principal) *mcp.Server, *Options) (*Handler, error) { return nil, errors.New("stub") }
func (a *Auth) Patterns() map[string][]string                            { return nil }

type Introspection struct{ Issuer, Endpoint, Resource, ClientID, ClientSecret string }

func (i Introspection) Auth() (*Auth, error) { return nil, errors.New("stub") }
