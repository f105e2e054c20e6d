package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// misses returns clues about objects in results that the program used incorrectly: it read a member that no object at
// the same path has, or it used an object as a number or a string. Since the worker may be hostile, misses compares the
// worker's report with the results.
func (h *host) misses(r *engine.Result, calls []Call) (clues []clue) {
	shapes := map[string]*shape{}
	for _, m := range r.Misses[:min(len(r.Misses), engine.MaxMisses)] {
		s := shapes[m.Tool+m.Path]
		if s == nil {
			s = h.shapeOf(m, calls)
			shapes[m.Tool+m.Path] = s
		}
		message, hint := h.miss(m, s)
		if tool := h.textTool(calls); m.Text && m.Tool == "" && message != "" && tool != "" {
			hint = tool + "() returns a string of JSON; use JSON.parse on the result"
		}
		known := func(c clue) bool { return c.Message == message }
		if message != "" && !slices.ContainsFunc(clues, known) && len(clues) < maxFindings {
			kind := kindWrongType
			// A program that reads the length of an object takes the object for a list.
			if m.Member != "" && m.Member != "length" && !m.Text && s.rows == 0 {
				kind = kindMissingMember
			}
			clues = append(clues, clue{h.finding(kind, message, hint, m.Pos), m.Member})
		}
	}
	if clues == nil {
		return h.unparsed(calls)
	}
	return clues
}

// textTool returns the path of a tool that returned a string of JSON. It returns "" if no tool did, or if the program
// parses something.
func (h *host) textTool(calls []Call) string {
	i := slices.IndexFunc(calls, func(c Call) bool { return h.shapeOf(engine.Miss{Tool: c.Tool}, []Call{c}).json })
	if i < 0 || strings.Contains(h.program.Source, "parse") {
		return ""
	}
	return calls[i].Tool
}

// unparsed returns a clue about the first variable that holds a string of JSON and whose length the program reads. It
// returns nil if there is no such variable, or if the program parses something.
func (h *host) unparsed(calls []Call) []clue {
	for _, c := range calls {
		at := engine.Pos{Line: c.Line, Column: c.Column}
		holder, source := h.holder(at), h.program.Source
		if holder == "" || !strings.Contains(source, holder+".length") || strings.Contains(source, "parse") {
			continue
		}
		if h.shapeOf(engine.Miss{Tool: c.Tool}, []Call{c}).json {
			message := c.Tool + "() returns a string of JSON, whose length counts its characters"
			return []clue{{h.finding(kindWrongType, message, "use JSON.parse on the result", at), holder}}
		}
	}
	return nil
}

// plainName matches names that may be shown. Other names are data and may have any length.
var plainName = regexp.MustCompile(`^[\w$]{1,64}$`)

// resultPath matches the path of an object in a result, such as .rows[].
var resultPath = regexp.MustCompile(`^(\.[\w$]{1,64}|\[\])*$`)

// miss returns the message and the hint for a miss, or "" if the results contradict the miss.
func (h *host) miss(m engine.Miss, s *shape) (message, hint string) {
	where := m.Tool + "()" + m.Path
	switch {
	case m.Member != "" && !plainName.MatchString(m.Member):
	case m.Text && m.Tool == "" && strings.Contains(engine.Line(h.program.Source, m.Line), m.Member):
		return "a string has no " + m.Member, "print the value to see what it is"
	case m.Text && s.json:
		return fmt.Sprintf("%s returns a string, which has no %s", where, m.Member), "use JSON.parse on the result"
	case m.Text && s.text:
		hint = "it is not JSON; parse it as text, for example with split or match"
		return fmt.Sprintf("%s returns a string, which has no %s", where, m.Member), hint
	case m.Text || s.objects == 0 || slices.Contains(s.names, m.Member) || s.declares(m.Member):
	case m.Member == "":
		return where + " is an object, but is used as a number or a string; " + s.String(), "read a member of it"
	default:
		if near := similar.Nearest(m.Member, s.names); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fmt.Sprintf("%s has no %s; %s", where, m.Member, s.String()), hint
	}
	return "", ""
}

// shape describes the objects at one path in a tool's results.
type shape struct {
	schema     json.RawMessage // declared by the tool
	objects    int             // number of objects at the path
	rows       int             // number of these objects that are in a list
	names      []string        // the objects' member names
	text, json bool            // a result is a string, and the string is JSON
}

// maxShaped is the maximum size in bytes of the results that are read for one shape.
const maxShaped = 1 << 20

// shapeOf returns the shape of the objects that a miss is about. The shape is empty if the tool's results are too
// large.
func (h *host) shapeOf(m engine.Miss, calls []Call) *shape {
	s := &shape{}
	if b := h.toolByPath(m.Tool); b != nil {
		s.schema = b.OutputSchema
	}
	left := maxShaped
	for _, c := range calls {
		if c.Tool != m.Tool || c.Error != nil || !resultPath.MatchString(m.Path) {
			continue
		}
		if left -= len(c.Result); left < 0 {
			return &shape{}
		}
		s.addResult(c.Result, m.Path)
	}
	return s
}

func (s *shape) addResult(result json.RawMessage, path string) {
	doc, err := jsonvalue.Decode(result, engine.MaxDepth, true)
	if err != nil {
		return
	}
	if text, ok := doc.Value.(string); ok {
		s.text = true
		if doc, err = jsonvalue.Decode(json.RawMessage(text), engine.MaxDepth, true); err != nil {
			return
		}
		s.json = strings.ContainsAny(text, "{[")
	}
	s.add(doc, doc.Value, path, false)
}

// add adds the objects to which path leads from value. listed says whether value is in a list.
func (s *shape) add(doc *jsonvalue.Document, value any, path string, listed bool) {
	switch v := value.(type) {
	case []any:
		if rest, ok := strings.CutPrefix(path, "[]"); ok {
			for _, item := range v {
				s.add(doc, item, rest, true)
			}
		}
	case map[string]any:
		step, more := path, strings.IndexAny(path[min(1, len(path)):], ".[")
		if more >= 0 {
			step = path[:more+1]
		}
		if member, ok := v[strings.TrimPrefix(step, ".")]; ok && path != "" {
			s.add(doc, member, path[len(step):], listed)
		} else if path == "" {
			s.addObject(doc.Names(v), listed)
		}
	}
}

func (s *shape) addObject(names []string, listed bool) {
	if s.objects++; listed {
		s.rows++
	}
	for _, name := range names {
		if plainName.MatchString(name) && !slices.Contains(s.names, name) && len(s.names) < maxNames {
			s.names = append(s.names, name)
		}
	}
}

// declares reports whether the tool's output schema mentions a member.
func (s *shape) declares(member string) bool {
	return member != "" && bytes.Contains(s.schema, []byte(`"`+member+`"`))
}

// String says which members the objects have.
func (s *shape) String() string {
	what := "it has "
	if s.rows > 1 {
		what = fmt.Sprintf("the %d rows have ", s.rows)
	} else if s.objects > 1 {
		what = fmt.Sprintf("the %d objects have ", s.objects)
	}
	return what + cmp.Or(listed(s.names), "no members")
}
