package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

// listedTool is a tool as the server describes it. Schemas stay bytes.
type listedTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  struct {
		Title           string `json:"title"`
		ReadOnlyHint    bool   `json:"readOnlyHint"`
		IdempotentHint  bool   `json:"idempotentHint"`
		DestructiveHint *bool  `json:"destructiveHint"` // nil means true
	} `json:"annotations"`
}

// hints is what the server says of the tool, which may be a lie.
func (t *listedTool) hints() tools.Hints {
	a := t.Annotations
	switch {
	case a.ReadOnlyHint:
		return tools.Hints{Class: tools.Read}
	case a.IdempotentHint:
		return tools.Hints{Class: tools.Idempotent, Destructive: a.DestructiveHint == nil || *a.DestructiveHint}
	}
	return tools.Hints{Destructive: a.DestructiveHint == nil || *a.DestructiveHint}
}

func (t *listedTool) description() string {
	for _, text := range []string{t.Description, t.Title, t.Annotations.Title} {
		if text != "" {
			return text
		}
	}
	return ""
}

type toolPage struct {
	Tools      []json.RawMessage `json:"tools"`
	NextCursor string            `json:"nextCursor"`
}

// list returns the server's tools, or none and a reason in its status.
func (s *server) list(ctx context.Context) []*tools.Tool {
	if s.session == nil {
		return nil
	}
	select {
	case <-s.watched:
		return nil // its status says why
	default:
	}
	s.mu.Lock()
	s.warnings = nil
	s.mu.Unlock()
	listed, err := s.readPages(ctx)
	if err != nil {
		err = s.listingFailed(ctx, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.listErr = len(listed), err
	return listed
}

// listingFailed words the failure of a listing; nil if that is the caller's,
// who gave up.
func (s *server) listingFailed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return nil
	case isLost(err):
		return s.lost()
	}
	err = fmt.Errorf("mcp server %q: listing tools: %w%s", s.name, err, s.evidence())
	s.o.Logger.ErrorContext(ctx, "mcp server failed", "server", s.name, "error", err)
	return err
}

// readPages reads one page after the other. A server decides how many there
// are, so everything about them is bounded.
func (s *server) readPages(ctx context.Context) ([]*tools.Tool, error) {
	bounded, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	l := listing{server: s, names: map[string]bool{}}
	cursors := map[string]bool{}
	cursor := ""
	for n := 1; ; n++ {
		page, err := s.readPage(bounded, cursor)
		switch {
		case err != nil && bounded.Err() != nil && ctx.Err() == nil:
			return nil, fmt.Errorf("not done within %v; raise the timeout: %w", s.timeout(), err)
		case err != nil:
			return nil, err
		}
		full := l.add(page.Tools)
		cursor = page.NextCursor
		switch {
		case full, cursor == "":
			return l.tools, nil
		case cursors[cursor]:
			s.warn("page %d of its tools leads back to an earlier one; the listing ends there", n)
			return l.tools, nil
		case n == s.o.MaxPages:
			s.warn("it has more than %d pages of tools; the rest is left out", n)
			return l.tools, nil
		}
		cursors[cursor] = true
	}
}

func (s *server) readPage(ctx context.Context, cursor string) (*toolPage, error) {
	raw, err := s.request(ctx, func(ctx context.Context) (any, error) {
		return s.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	})
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound:
		return &toolPage{}, nil // it has prompts or resources only
	case err != nil:
		return nil, err
	}
	var page toolPage
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("malformed answer: %w", err)
	}
	return &page, nil
}

// listing gathers the tools of one server.
type listing struct {
	server *server
	tools  []*tools.Tool
	names  map[string]bool
}

// add takes in one page and reports whether no more tools are taken.
func (l *listing) add(page []json.RawMessage) (full bool) {
	for _, raw := range page {
		if len(l.tools) == l.server.o.MaxTools {
			l.server.warn("it has more than %d tools; the rest is left out", len(l.tools))
			return true
		}
		l.addTool(raw)
	}
	return false
}

func (l *listing) addTool(raw json.RawMessage) {
	var t listedTool
	err := json.Unmarshal(raw, &t)
	switch {
	case err != nil && t.Name != "":
		l.server.warn("tool %q is left out: malformed description: %v", t.Name, err)
	case err != nil || t.Name == "":
		l.server.warn("a tool without a proper name is left out")
	case !l.server.config.offers(t.Name):
	case l.names[t.Name]:
		l.server.warn("tool %q is listed twice; the first is kept", t.Name)
	default:
		l.names[t.Name] = true
		l.tools = append(l.tools, l.server.bind(&t))
	}
}

// bind makes a listed tool callable.
func (s *server) bind(t *listedTool) *tools.Tool {
	input, output := present(t.InputSchema), present(t.OutputSchema)
	var hints tools.Hints
	if slices.Contains(s.o.Trust, s.name) {
		hints = t.hints()
	}
	return &tools.Tool{
		Hints:        hints,
		Namespace:    s.name,
		Name:         t.Name,
		Description:  t.description(),
		InputSchema:  input,
		OutputSchema: output,
		Handler:      newRemote(s, t.Name, output).call,
	}
}

// present returns nil for JSON that is absent or null.
func present(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}
