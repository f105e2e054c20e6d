package wire

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// maxSchemas is the number of rejected schemas that are remembered.
const maxSchemas = 1000

// Schemas remembers the schemas that an endpoint rejected. Its zero value is ready; it is safe for concurrent use.
type Schemas struct {
	mu      sync.Mutex
	refused map[schemaKey]bool
}

type schemaKey struct {
	model string
	hash  [sha256.Size]byte
}

// Send calls send with the schema. If the provider rejects the schema, it calls send once more without a schema. If
// that works, Send no longer sends the schema to this model; otherwise it returns the first error.
func (s *Schemas) Send(model string, schema json.RawMessage,
	send func(schema json.RawMessage) (*llms.ContentResponse, error)) (*llms.ContentResponse, error) {
	if schema == nil {
		return send(nil)
	}
	key := schemaKey{model, sha256.Sum256(schema)}
	if s.known(key) {
		return send(nil)
	}
	reply, err := send(schema)
	if !aboutSchema(err) {
		return reply, err
	}
	plain, again := send(nil)
	if again != nil {
		return reply, err
	}
	s.remember(key)
	return plain, nil
}

var schemaWords = regexp.MustCompile(`(?i)schema|json|structured|grammar|\bformat\b|response.?format|output.?config`)

// aboutSchema reports whether a provider rejected a request because of its schema.
func aboutSchema(err error) bool {
	e, ok := errors.AsType[*lm.Error](err)
	return ok && e.Kind == lm.KindInvalid && schemaWords.MatchString(e.Error()) &&
		(e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity)
}

func (s *Schemas) known(key schemaKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused[key]
}

func (s *Schemas) remember(key schemaKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil || len(s.refused) >= maxSchemas {
		s.refused = map[schemaKey]bool{}
	}
	s.refused[key] = true
}
