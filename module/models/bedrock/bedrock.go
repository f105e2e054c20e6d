// Package bedrock opens models of Amazon Bedrock, through its Converse API. It supports structured output, several tool
// calls in one reply, Claude's thinking, prompt caching, images and documents, as far as the model does.
//
// It is a module of its own, so that only its users link the AWS SDK. Use the same version as of the module writ.
package bedrock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/encoding/httpbinding"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/models/internal/wire"
)

const provider = "bedrock" // the Provider of an [lm.Message]

// Options configures [New]. Nil and the zero value mean the defaults.
type Options struct {
	// Config has the region, the credentials and, optionally, the endpoint. Nil means the usual chain of the AWS SDK:
	// environment variables, shared files, SSO, and the roles of containers and machines. If the environment variable
	// AWS_BEARER_TOKEN_BEDROCK is set, its API key is sent instead of a signature.
	Config *aws.Config

	// Base names the model behind an ARN, such as "anthropic.claude-sonnet-4-5", because Claude and Nova are called
	// differently. If empty, the name of the model says it.
	Base string

	// Client makes the requests, Attempt limits the duration of one, and Retry configures the retries. MaxTokens and
	// Extra are in every request. All are as in [models.OpenOptions].
	Client    *http.Client
	MaxTokens int
	Extra     map[string]any
	Attempt   time.Duration
	Retry     *models.RetryOptions
}

// New returns a model that is ready for production, as [models.Open] does. The name is a model ID such as
// "anthropic.claude-sonnet-4-5-20250929-v1:0", the ID of an inference profile such as "us.amazon.nova-pro-v1:0", or an
// ARN. New makes no request to Bedrock; reading the configuration may make requests, which end with ctx.
func New(ctx context.Context, name string, o *Options) (llms.Model, error) {
	if o == nil {
		o = &Options{}
	}
	if strings.TrimSpace(name) == "" {
		return nil, errors.New(`bedrock: the model has no name; pass one such as "us.amazon.nova-pro-v1:0"`)
	}
	c := o.Config
	if c == nil {
		loaded, err := config.LoadDefaultConfig(ctx)
		if err != nil {
			return nil, fmt.Errorf("bedrock: cannot read the AWS configuration: %w", err)
		}
		c = &loaded
	}
	if c.Region == "" {
		return nil, errors.New("bedrock: the AWS configuration has no region; set AWS_REGION or Options.Config")
	}
	endpoint := "https://bedrock-runtime." + c.Region + ".amazonaws.com"
	if strings.HasPrefix(c.Region, "cn-") {
		endpoint += ".cn"
	}
	key := os.Getenv("AWS_BEARER_TOKEN_BEDROCK")
	client, err := wire.NewClient(provider, "", cmp.Or(aws.ToString(c.BaseEndpoint), endpoint), true,
		&wire.Options{Key: key, Client: o.Client, Extra: maps.Clone(o.Extra)})
	if err != nil {
		return nil, fmt.Errorf("bedrock: %w", err)
	}
	client.Variable = "the AWS configuration"
	if key == "" {
		client.Authorize = signer(c)
	}
	m := &model{name: name, base: cmp.Or(o.Base, name), maxTokens: o.MaxTokens, client: client}
	m.CapableFunc = lm.CapableFunc{Func: m.generate, States: m.states}
	return models.Retry(wire.Limited(m, o.Attempt), o.Retry), nil
}

// signer returns a function that signs requests.
func signer(c *aws.Config) func(*http.Request, []byte) (string, error) {
	signature := v4.NewSigner()
	return func(r *http.Request, body []byte) (string, error) {
		if c.Credentials == nil {
			return "", errors.New("no AWS credentials were found; set AWS_ACCESS_KEY_ID, AWS_PROFILE or Options.Config")
		}
		credentials, err := c.Credentials.Retrieve(r.Context())
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(body)
		return credentials.SessionToken, signature.SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]),
			"bedrock", c.Region, time.Now())
	}
}

type model struct {
	lm.CapableFunc
	name, base string
	maxTokens  int
	client     wire.Client
	schemas    wire.Schemas
}

// states returns what the model can do.
func (m *model) states() lm.Capabilities {
	claude := strings.Contains(m.base, "claude")
	return lm.Capabilities{Model: m.name, Schema: true, Tools: true, Vision: true, Thinking: claude,
		Caching: claude || strings.Contains(m.base, "amazon.nova"), MaxTokens: m.maxTokens}
}

// generate returns the model's reply as one choice. It streams the reply if the call options contain a streaming
// function.
func (m *model) generate(ctx context.Context, messages []llms.MessageContent,
	options []llms.CallOption) (*llms.ContentResponse, error) {
	o, p := lm.Options(options), lm.ParamsOf(ctx)
	r, err := m.newRequest(p, messages, options)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(o.Model, m.name)
	path := "/model/" + httpbinding.EscapePath(name, true) + "/converse"
	if wire.Streams(o) {
		path += "-stream"
	}
	return m.schemas.Send(name, p.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
		answer, err := m.client.Post(ctx, path, r.body(schema))
		if err != nil {
			return nil, err
		}
		defer answer.Close()
		if wire.Streams(o) {
			return readStream(ctx, answer, name, o)
		}
		var a reply
		if err := answer.Decode(ctx, &a); err != nil {
			return nil, err
		}
		return a.response(name, answer)
	})
}
