//go:build integration

package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// credentials are those for the authorization servers of the suite.
type credentials struct {
	Name         string `json:"name"` // of the scenario
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Issuer       string `json:"issuer"`
	IDPClientID  string `json:"idp_client_id"`
	IDPToken     string `json:"idp_id_token"`
	IDPIssuer    string `json:"idp_issuer"`
}

func (c credentials) client() *oauthex.ClientCredentials {
	if c.ClientID == "" || c.ClientSecret == "" {
		return nil
	}
	return &oauthex.ClientCredentials{
		ClientID:         c.ClientID,
		ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: c.ClientSecret},
	}
}

// authorization returns the SDK's handler for the scenario.
func authorization(ctx context.Context, server string, c credentials) (auth.OAuthHandler, error) {
	switch c.Name {
	case "auth/client-credentials-basic":
		return extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: c.client()})
	case "auth/enterprise-managed-authorization":
		return enterprise(ctx, server, c)
	}
	const redirect = "http://localhost:3000/callback"
	return auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              redirect,
		AuthorizationCodeFetcher: fetchCode,
		PreregisteredClient:      c.client(),
		ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{
			URL: "https://conformance-test.local/client-metadata.json",
		},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{redirect}},
		},
	})
}

// fetchCode replaces a user who agrees: the suite's authorization server redirects at once, to an
// address where nothing listens.
func fetchCode(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("the authorization server answers %s: %w", resp.Status, err)
	}
	q := to.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// enterprise exchanges the identity provider's token for one of the server. A host has to know the
// authorization server; this one believes the server.
func enterprise(ctx context.Context, server string, c credentials) (auth.OAuthHandler, error) {
	at, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	metadata := at.Scheme + "://" + at.Host + "/.well-known/oauth-protected-resource" + at.Path
	said, err := oauthex.GetProtectedResourceMetadata(ctx, metadata, server, http.DefaultClient)
	if err != nil {
		return nil, err
	}
	if len(said.AuthorizationServers) == 0 {
		return nil, errors.New("the server names no authorization server")
	}
	return extauth.NewEnterpriseHandler(&extauth.EnterpriseHandlerConfig{
		IdPIssuerURL:     c.IDPIssuer,
		IdPCredentials:   &oauthex.ClientCredentials{ClientID: c.IDPClientID},
		MCPAuthServerURL: said.AuthorizationServers[0],
		MCPResourceURI:   server,
		MCPCredentials:   c.client(),
		IDTokenFetcher: func(context.Context) (*oauth2.Token, error) {
			return (&oauth2.Token{}).WithExtra(map[string]any{"id_token": c.IDPToken}), nil
		},
	})
}
