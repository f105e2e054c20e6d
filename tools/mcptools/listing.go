package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

// listedTool is a tool as the server describes it. Schemas stay bytes.
type listedTool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  annotations
}

// UnmarshalJSON implements [json.Unmarshaler]. The name comes first, so that
// errors can be told by it.
func (t *listedTool) UnmarshalJSON(data []byte) error {
	return decodeExactly(data,
		field{"name", &t.Name}, field{"title", &t.Title}, field{"description", &t.Description},
		field{"inputSchema", &t.InputSchema}, field{"outputSchema", &t.OutputSchema}, field{"annotations", &t.Annotations})
}

type annotations struct {
	Title           string
	ReadOnlyHint    bool
	IdempotentHint  bool
	DestructiveHint *bool // nil means true
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *annotations) UnmarshalJSON(data []byte) error {
	return decodeExactly(data, field{"title", &a.Title},
		field{"readOnlyHint", &a.ReadOnlyHint}, field{"idempotentHint", &a.IdempotentHint}, field{"destructiveHint", &a.DestructiveHint})
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
	Tools      []json.RawMessage
	NextCursor string
	size       int
	sendable   map[string]bool // tools whose arguments can be sent as the headers they ask for; nil if none asks
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *toolPage) UnmarshalJSON(data []byte) error {
	return decodeExactly(data, field{"tools", &p.Tools}, field{"nextCursor", &p.NextCursor})
}

// relist lists the server's tools and reports whether they have changed. On
// error, which its status has too, those of the last listing are kept. A server
// that ends meanwhile is started once more.
func (s *server) relist(ctx context.Context) (changed bool, err error) {
	for range 2 {
		var c *connection
		if c, err = s.live(ctx); err != nil {
			return false, err
		}
		var l *listing
		l, err = c.list(ctx)
		changed = s.noteListing(ctx, c, l, err)
		if !isLost(err) || ctx.Err() != nil {
			break
		}
	}
	return changed, err
}

// noteListing notes how a listing went, unless the caller gave up, and reports
// whether the tools have changed.
func (s *server) noteListing(ctx context.Context, c *connection, l *listing, err error) (changed bool) {
	if ctx.Err() != nil {
		return false
	}
	s.mu.Lock()
	c.listErr = err
	s.mu.Unlock()
	if err == nil {
		changed = s.keep(l)
		c.compared()
		return changed
	}
	s.health.noted(err)
	s.o.Logger.ErrorContext(ctx, "mcp server failed", "server", s.name, "error", err)
	return false
}

// lastTools returns the tools of the last listing.
func (s *server) lastTools() []*tools.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// list reads one page after the other. A server decides how many there are, so
// everything about them is bounded. On error the listing is empty.
func (c *connection) list(ctx context.Context) (*listing, error) {
	s := c.server
	bounded, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	l := s.newListing()
	for !l.done {
		page, err := c.readPage(bounded, l.cursor)
		if err == nil {
			err = l.add(bounded, page)
		}
		if err == nil {
			continue
		}
		switch {
		case isLost(err):
			c.drop(err)
			err = errors.Join(err, c.lost())
		case bounded.Err() != nil && ctx.Err() == nil:
			err = fmt.Errorf("mcp server %q: listing tools: not done within %v; raise the timeout: %w%s", s.name, s.timeout(), err, c.evidence())
		default:
			err = fmt.Errorf("mcp server %q: listing tools: %w%s", s.name, err, c.evidence())
		}
		return &listing{}, err
	}
	return l, nil
}

func (s *server) newListing() *listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &listing{
		server: s, first: maps.Clone(s.first), names: map[string]bool{}, cursors: map[string]bool{},
		pins: map[string]string{}, refused: map[string]string{},
	}
}

// warn notes what the host should know of the listing.
func (l *listing) warn(format string, args ...any) {
	l.warnings.add(l.server.o.Secrets.Text(l.server.about(format, args...)))
}

// keep keeps what a listing says, in place of what the one before said, and the
// fingerprints of tools that are new. The first ones are never given up for others:
// a server could get rid of them so. It reports whether the tools have changed, as
// they have in the first listing.
func (s *server) keep(l *listing) (changed bool) {
	unwatched := 0
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.pins == nil || !maps.Equal(s.pins, l.pins)
	s.pins, s.refused, s.tools = l.pins, l.refused, l.tools
	if s.first == nil {
		s.first = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(l.pins)) { // where not all fit, which do is no chance
		_, seen := s.first[name]
		switch {
		case seen:
		case len(s.first) < s.o.MaxTools:
			s.first[name] = l.pins[name]
		default:
			unwatched++
		}
	}
	if unwatched > 0 {
		l.warn("it has listed more than %d tools by now; changes of %d of them will not be noticed", s.o.MaxTools, unwatched)
	}
	s.listed = l.warnings
	return changed
}

// readPage reads the page at a cursor.
func (c *connection) readPage(ctx context.Context, cursor string) (*toolPage, error) {
	var seen *mcp.ListToolsResult // by the SDK, where it has to know the tools
	raw, err := c.request(ctx, func(ctx context.Context) (_ any, err error) {
		seen, err = c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		return seen, err
	})
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound:
		return &toolPage{}, nil // it has prompts or resources only
	case err != nil:
		return nil, err
	}
	page := toolPage{size: len(raw)}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("malformed answer: %w", err)
	}
	if wantsHeaders(raw) {
		page.sendable = map[string]bool{}
		for _, t := range seen.Tools { // it leaves out the others
			page.sendable[t.Name] = true
		}
	}
	return &page, nil
}

// listing gathers the tools of one server, page by page.
type listing struct {
	server *server
	tools  []*tools.Tool
	names  map[string]bool
	pins   map[string]string
	first  map[string]string // fingerprints of the first listing; nil in that

	refused  map[string]string // as server.refused
	warnings warnings

	listed  int // tools, also those that are left out for what they are
	pages   int
	size    int
	cursor  string // of the next page
	cursors map[string]bool
	done    bool
	all     []string // names, also of those that are not to be taken
}

// add takes in one page, and ends the listing if no other is to be read. Its
// error is that of ctx.
func (l *listing) add(ctx context.Context, page *toolPage) error {
	s := l.server
	for _, raw := range page.Tools {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.listed == s.o.MaxTools {
			l.warn("it has more than %d tools; the rest is left out", l.listed)
			l.done = true
			return nil
		}
		l.addTool(raw, page.sendable)
	}
	l.pages++
	l.size += page.size
	l.cursor = page.NextCursor
	l.done = true
	switch {
	case l.cursor == "":
		l.checkPatterns()
	case l.cursors[l.cursor]:
		l.warn("page %d of its tools leads back to an earlier one; the listing ends there", l.pages)
	case l.pages == s.o.MaxPages:
		l.warn("it has more than %d pages of tools; the rest is left out", l.pages)
	case l.size >= s.o.MaxListing:
		l.warn("its tools take more than %d bytes; the rest is left out", s.o.MaxListing)
	default:
		l.cursors[l.cursor] = true
		l.done = false
	}
	return nil
}

// checkPatterns warns of patterns that match no tool, once all are known.
func (l *listing) checkPatterns() {
	if len(l.all) == 0 {
		return
	}
	for _, text := range l.server.config.unmatched(l.all) {
		l.warn("%s", text)
	}
}

// maxName bounds the name of a tool, in bytes.
const maxName = 256

func (l *listing) addTool(raw json.RawMessage, sendable map[string]bool) {
	var t listedTool
	err := t.UnmarshalJSON(raw)
	if t.Name != "" {
		l.all = append(l.all, t.Name)
		if !l.server.config.offers(t.Name) {
			return
		}
	}
	l.listed++
	switch {
	case len(t.Name) > maxName:
		l.warn("a tool is left out whose name has %d bytes; at most %d are accepted", len(t.Name), maxName)
	case err != nil && t.Name != "":
		l.warn("tool %q is left out: malformed description: %v", t.Name, err)
	case err != nil || t.Name == "":
		l.warn("a tool without a proper name is left out")
	case l.names[t.Name]:
		l.warn("tool %q is listed twice; the first is kept", t.Name)
	case sendable != nil && !sendable[t.Name]:
		l.warn("tool %q is left out: no header can be sent as its x-mcp-header asks", t.Name)
	default:
		l.names[t.Name] = true
		if l.approved(&t) {
			l.redact(&t)
			l.trim(&t)
			l.tools = append(l.tools, l.server.bind(&t))
		}
	}
}

// redact takes out the secrets, before anything is cut: a part of one could not be
// recognized. The name stays, because the server knows the tool by it; see bind.
func (l *listing) redact(t *listedTool) {
	secrets := l.server.o.Secrets
	t.Description = secrets.Text(t.description())
	t.InputSchema, t.OutputSchema = secrets.JSON(t.InputSchema), secrets.JSON(t.OutputSchema)
}

// trim cuts what is too large to be kept.
func (l *listing) trim(t *listedTool) {
	s := l.server
	if text := t.Description; len(text) > s.o.MaxDescription {
		t.Description = cutText(text, s.o.MaxDescription)
		l.warn("the description of tool %q has %d bytes; it is cut to %d", t.Name, len(text), len(t.Description))
	}
	if size := len(t.InputSchema); size > s.o.MaxSchema {
		t.InputSchema = nil
		l.warn("the input schema of tool %q has %d bytes, and is dropped: its arguments are not checked", t.Name, size)
	}
	if size := len(t.OutputSchema); size > s.o.MaxSchema {
		t.OutputSchema = nil
		l.warn("the output schema of tool %q has %d bytes, and is dropped: its results are taken as if it had none", t.Name, size)
	}
}

// bind makes a listed tool callable.
func (s *server) bind(t *listedTool) *tools.Tool {
	input, output := bytes.Clone(present(t.InputSchema)), bytes.Clone(present(t.OutputSchema)) // not the whole page
	var hints tools.Hints
	if slices.Contains(s.o.Trust, s.name) {
		hints = t.hints()
	}
	return &tools.Tool{
		Hints:        hints,
		Claims:       tools.Claims{ReadOnly: t.Annotations.ReadOnlyHint, Idempotent: t.Annotations.IdempotentHint},
		Namespace:    s.name,
		Name:         s.o.Secrets.Text(t.Name),
		Description:  t.Description,
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
