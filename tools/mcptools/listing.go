package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// toolPage is one page of a tools/list result.
type toolPage struct {
	Tools      []json.RawMessage
	NextCursor string
	sendable   map[string]bool // the tools that the SDK accepts; nil if no tool has an x-mcp-header
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *toolPage) UnmarshalJSON(data []byte) error {
	return jsonscan.Object(data, jsonscan.Fields{"tools": &p.Tools, "nextCursor": &p.NextCursor})
}

// relist lists the server's tools and reports whether they have changed. If the listing fails, the server keeps its
// tools, and its status has the error. A server that exits during the listing is started once more.
func (s *server) relist(ctx context.Context) (changed bool, err error) {
	begun := time.Now()
	for range 2 {
		var c *connection
		if c, err = s.live(ctx); err != nil || c.rechecked.After(begun) {
			return false, err
		}
		var l *listing
		l, err = c.list(ctx)
		changed = s.setListing(ctx, c, l, err)
		if !isLost(err) || ctx.Err() != nil {
			break
		}
	}
	return changed, err
}

// setListing records a listing's result, unless ctx is done. It reports whether the tools have changed.
func (s *server) setListing(ctx context.Context, c *connection, l *listing, err error) (changed bool) {
	if ctx.Err() != nil {
		return false
	}
	s.mu.Lock()
	c.listErr = err
	s.mu.Unlock()
	if err != nil {
		s.o.Logger.Error("mcp server failed", "server", s.name, "error", err)
		return false
	}
	return s.keep(l)
}

// recheck lists the tools over a new connection before any call, because a restarted server may be a different version.
// If the listing fails, recheck gives up the connection if it is lost or Options.RefuseChanged is set.
func (s *server) recheck(c *connection) error {
	s.mu.Lock()
	listed, known := s.pins != nil, s.listed.texts
	s.mu.Unlock()
	if !listed {
		return nil // the tools were never listed, so there is nothing to compare
	}
	l, err := c.list(s.life)
	changed := s.setListing(s.life, c, l, err)
	if err != nil && (s.o.RefuseChanged || isLost(err)) {
		c.drop(err)
		return &recheckError{err}
	}
	for _, w := range l.warnings.texts {
		if !slices.Contains(known, w) {
			s.o.Logger.Warn(w)
		}
	}
	if changed {
		s.notifications.toolsChanged()
	}
	if err == nil {
		c.rechecked = time.Now()
	}
	return nil
}

// recheckError reports that the tools could not be listed over a new connection.
type recheckError struct{ error }

func (e *recheckError) Unwrap() error { return e.error }

func (s *server) lastTools() []*tools.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// list reads all pages of a listing. Their number and size are bounded, since the server chooses them. On error, the
// listing is empty.
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
			err = s.named(fmt.Errorf("listing tools timed out after %v; raise the timeout: %w%s",
				s.timeout(), err, c.evidence()))
		default:
			err = s.named(fmt.Errorf("listing tools: %w%s", err, c.evidence()))
		}
		return &listing{}, err
	}
	return l, nil
}

// readPage reads the page at a cursor.
func (c *connection) readPage(ctx context.Context, cursor string) (*toolPage, error) {
	var decoded *mcp.ListToolsResult // empty unless the page has an x-mcp-header
	raw, err := c.request(ctx, &message.Call{}, func(ctx context.Context) (_ any, err error) {
		decoded, err = c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		return decoded, err
	})
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound:
		return &toolPage{}, nil // the server has only prompts or resources
	case err != nil:
		return nil, err
	}
	var page toolPage
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("malformed response: %w", err)
	}
	if message.WantsHeaders(raw) {
		page.sendable = map[string]bool{}
		for _, t := range decoded.Tools { // the SDK leaves out tools with an invalid x-mcp-header
			page.sendable[t.Name] = true
		}
	}
	return &page, nil
}

// listing collects one server's tools, page by page.
type listing struct {
	server *server
	tools  []*tools.Tool
	names  map[string]bool
	pins   map[string]string
	first  map[string]string // as server.first

	refused  map[string]string // as server.refused
	warnings warnings

	listed  int // number of tools, including malformed tools
	pages   int
	size    int
	values  jsonscan.Scanner // counts the JSON values in the schemas
	cursor  string           // of the next page
	cursors map[string]bool
	done    bool
	all     []string // names of all tools
}

func (s *server) newListing() *listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &listing{
		server: s, first: maps.Clone(s.first), names: map[string]bool{}, cursors: map[string]bool{},
		pins: map[string]string{}, refused: map[string]string{},
		values: jsonscan.Scanner{Limits: jsonscan.Limits{Values: s.o.maxListing / valueSize}},
	}
}

func (l *listing) warn(format string, args ...any) {
	l.warnings.add(l.server.o.Secrets.Text(l.server.about(format, args...)))
}

// keep replaces the last listing and records the fingerprints of new tools. The first fingerprint
// of a tool is never replaced; otherwise, a server could hide a change by listing the tool twice. Keep reports whether
// the tools have changed; the first listing is a change.
func (s *server) keep(l *listing) (changed bool) {
	unwatched := 0
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.pins == nil || !maps.Equal(s.pins, l.pins)
	s.pins, s.refused, s.tools = l.pins, l.refused, l.tools
	if s.first == nil {
		s.first = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(l.pins)) { // sorted, so that every listing records the same tools
		_, seen := s.first[name]
		switch {
		case seen:
		case len(s.first) < s.o.maxTools:
			s.first[name] = l.pins[name]
		default:
			unwatched++
		}
	}
	if unwatched > 0 {
		l.warn("it has listed more than %d different tools; changes to %d of them will not be noticed",
			s.o.maxTools, unwatched)
	}
	s.listed = l.warnings
	return changed
}

// add adds one page, and ends the listing if the page is the last. It returns an error only if ctx is done.
func (l *listing) add(ctx context.Context, page *toolPage) error {
	o := l.server.o
	for _, raw := range page.Tools {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, crowded := l.values.Write(nil) // returns an error once the limit is exceeded
		switch l.size += len(raw); {
		case l.listed == o.maxTools:
			l.warn("it has more than %d tools; the rest is left out", l.listed)
		case crowded != nil || l.size > o.maxListing:
			l.warn("its tools take more than %d bytes or %d JSON values; the rest is left out",
				o.maxListing, o.maxListing/valueSize)
		default:
			l.addTool(raw, page.sendable)
			continue
		}
		l.done = true
		return nil
	}
	l.pages++
	l.cursor = page.NextCursor
	l.done = true
	switch {
	case l.cursor == "":
		if len(l.all) > 0 {
			for _, text := range l.server.config.unmatched(l.all) {
				l.warn("%s", text)
			}
		}
	case l.cursors[l.cursor]:
		l.warn("page %d of its tools points back to an earlier page; the listing ends there", l.pages)
	case l.pages == o.maxPages:
		l.warn("it has more than %d pages of tools; the rest is left out", l.pages)
	default:
		l.cursors[l.cursor] = true
		l.done = false
	}
	return nil
}

const (
	maxName   = 256 // bytes in a tool's name
	valueSize = 64  // a listing may have maxListing/valueSize JSON values
)

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
		l.warn("a tool is left out because its name has %d bytes; the limit is %d", len(t.Name), maxName)
	case err != nil && t.Name != "":
		l.warn("tool %q is left out because its definition is malformed: %v", t.Name, err)
	case err != nil || t.Name == "":
		l.warn("a tool without a valid name is left out")
	case l.names[t.Name]:
		l.warn("tool %q is listed twice; the first one is used", t.Name)
	case sendable != nil && !sendable[t.Name]:
		l.warn("tool %q is left out because its x-mcp-header is invalid", t.Name)
	case t.needsTask():
		l.warn("tool %q is left out because it must be called as a task, which is not supported", t.Name)
	case t.appOnly(): // left out without a warning
	default:
		l.names[t.Name] = true
		if l.approved(&t) {
			l.redact(&t)
			l.trim(&t)
			_, _ = l.values.Write(slices.Concat(t.InputSchema, t.OutputSchema))
			l.tools = append(l.tools, l.server.bind(&t))
		}
	}
}

// redact removes secrets. It runs before trim, since a truncated secret would not be recognized. The name is redacted
// later, in bind, because calls need the original name.
func (l *listing) redact(t *listedTool) {
	secrets := l.server.o.Secrets
	t.Description = secrets.Text(t.description())
	t.InputSchema, t.OutputSchema = secrets.JSON(t.InputSchema), secrets.JSON(t.OutputSchema)
}

// trim shortens a description that is too long, and drops schemas that are too large.
func (l *listing) trim(t *listedTool) {
	o := l.server.o
	if size := len(t.Description); size > o.maxDescription {
		t.Description = strings.ToValidUTF8(t.Description[:o.maxDescription], "")
		l.warn("the description of tool %q has %d bytes; it is cut to %d", t.Name, size, len(t.Description))
	}
	if size := len(t.InputSchema); size > o.maxSchema {
		t.InputSchema = nil
		l.warn("the input schema of tool %q has %d bytes and is ignored: its arguments are not checked", t.Name, size)
	}
	if size := len(t.OutputSchema); size > o.maxSchema {
		t.OutputSchema = nil
		l.warn("the output schema of tool %q has %d bytes and is ignored: its results are not checked", t.Name, size)
	}
}
