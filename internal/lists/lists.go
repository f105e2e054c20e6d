// Package lists recognizes results that hold only part of a list. It knows the common forms in which servers say which
// part a result holds.
package lists

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pagination is how a result says which part of a list it holds.
type Pagination int

// The comment of each constant says what the result contains. The zero Pagination means that a result does not say
// which part of a list it holds.
const (
	Pages Pagination = iota + 1 // the number of all pages
	Total                       // the number of all rows
	Token                       // a token or an address for the next page
	More                        // whether there are more rows
)

// State is what a result reveals about its list. The zero State means that the result does not say which part it holds.
type State struct {
	Pagination  Pagination
	Page, Pages int    // for Pages: the page, from 1, and the number of pages; for Total: the page if From is -1
	From, To    int    // for Total: the rows of the result, from 0, not including To; From is -1 if it is unknown
	Total       int    // the number of all rows, or 0 if it is unknown
	Rows        int    // the number of rows in this result
	Next        string // for Token: the token or address
	Last        bool   // for Token and More: there are no more rows
}

// maxSize is the maximum size of a result, in bytes. Read ignores larger ones.
const maxSize = 1 << 20

// Member and argument names, in lower case and without underscores.
var (
	places    = words("meta pagination paging pageinfo links")
	nextNames = words("nextpagetoken nextpagecursor nextpagelink nextpageurl nextpageoffset nextpage nexttoken " +
		"nextcursor nextlink nexturl nextoffset next @odata.nextlink continuationtoken continuation endcursor " +
		"pagetoken cursor")
	moreNames   = words("more hasmore hasnext hasnextpage istruncated truncated incompleteresults")
	pageNames   = words("page currentpage pagenumber pageno")
	pagesNames  = words("pages totalpages pagecount numpages lastpage")
	totalNames  = words("total totalcount totalresults totalitems totalrows")
	fromNames   = words("offset from start skip")
	rangeNames  = words("from start size count first") // paging arguments if they are numbers: from may be a date
	pagingNames = words("cursor token next pagetoken after before startingafter endingbefore page pagenumber pageno " +
		"pagesize perpage offset skip limit")
)

var (
	pageText  = regexp.MustCompile(`(?i)\bpage[ :]*(\d{1,9})\s*(?:/|of)\s*(\d{1,9})\b`)
	rangeText = regexp.MustCompile(`(?i)\b(\d{1,9})\s*(?:-|–|to|\.\.)\s*(\d{1,9})\s+of\s+(\d{1,9})\b`)
	tokenText = regexp.MustCompile(`(?i)\b(?:(?:next[_ ]?)?(?:page_?token|cursor|next)\s*[=:]|(?:next[_ ]?)?token=)` +
		`\s*["']?([\w+/=-]+)`)
	noToken = regexp.MustCompile(`(?i)^(null|none|false|-)$`)
)

func words(list string) []string { return strings.Fields(list) }

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Paged reports whether a tool with the given input schema has a paging argument. If a tool has no paging
// argument, its results with [Total] do not count as parts of a list: they may hold the best of many
// rows.
func Paged(schema json.RawMessage) bool {
	for name := range object(object(schema)["properties"]) {
		if slices.Contains(rangeNames, name) || slices.Contains(pagingNames, name) {
			return true
		}
	}
	return false
}

// Key returns a key for the list that a call reads: the arguments of the call without the paging arguments. Calls to
// the same tool that read the same list have the same key.
func Key(args json.RawMessage) string {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(args, &given) // the caller has checked that it is an object
	maps.DeleteFunc(given, func(name string, value json.RawMessage) bool {
		name = plain(name)
		return slices.Contains(pagingNames, name) || slices.Contains(rangeNames, name) && isNumber(value)
	})
	key, _ := json.Marshal(given)
	return string(key)
}

// Keys returns keys for lists, as [Key] does. It also recognizes a call that continues the list of an earlier call to
// the same tool, because one of its arguments is the token or the address for the next page from the earlier result.
// The zero value is ready to use.
type Keys struct{ next map[string]string }

// Of returns the key of the list that a tool call reads. s is the State of the call's result. Of must be called in the
// order of the calls.
func (k *Keys) Of(tool string, args json.RawMessage, s State) string {
	const distinct = 8 // bytes; longer values are rarely equal to a token by chance
	key := tool + Key(args)
	for _, value := range object(args) {
		if known, ok := k.next[tool+plainText(value)]; ok {
			key = known
		}
	}
	if len(s.Next) >= distinct {
		if k.next == nil {
			k.next = map[string]string{}
		}
		k.next[tool+s.Next] = key
	}
	return key
}

// Read returns the State of a result, and false if the result does not say which part of a list it holds. It
// reads a string that contains a JSON object as that object.
func Read(args, result json.RawMessage) (State, bool) {
	if len(result) > maxSize {
		return State{}, false
	}
	var text string
	if json.Unmarshal(result, &text) == nil {
		result = json.RawMessage(text)
	}
	members, given := object(result), object(args)
	if members == nil {
		return readText(text)
	}
	s, isList := State{}, false
	for _, value := range members {
		var list []skipped
		if value[0] == '[' && json.Unmarshal(value, &list) == nil {
			s.Rows, isList = max(s.Rows, len(list)), true
		}
	}
	for _, name := range append([]string{""}, places...) {
		place := members
		if name != "" {
			place = object(members[name])
		}
		if read, ok := s.read(place, given, isList); ok {
			return read, true
		}
	}
	return State{}, false
}

// skipped stands for an element of an array that is counted, not decoded.
type skipped struct{}

// UnmarshalJSON implements [json.Unmarshaler].
func (*skipped) UnmarshalJSON([]byte) error { return nil }

// read adds the information in an object's members to s, whose Rows is set. It returns false if the members do not say
// which part of a list the result holds.
func (s State) read(members, args map[string]json.RawMessage, isList bool) (State, bool) {
	hasTotal := isList && number(members, totalNames, &s.Total)
	next, more := first(members, nextNames, `"-0123456789n`), first(members, moreNames, "tf")
	switch {
	case isList && number(members, pagesNames, &s.Pages):
		s.Pagination, s.Page = Pages, 1
		if !number(members, pageNames, &s.Page) {
			number(args, pageNames, &s.Page)
		}
	case next != nil && (more == nil || more[0] == 'f' || !isEmpty(next)):
		s.Pagination, s.Next, s.Last = Token, plainText(next), isEmpty(next) || more != nil && more[0] == 'f'
	case more != nil:
		s.Pagination, s.Last = More, more[0] == 'f'
	case hasTotal && s.Rows+s.Total > 0:
		s.Pagination = Total
		if number(args, pageNames, &s.Page); !number(args, fromNames, &s.From) && s.Page > 1 {
			s.From = -1
		}
		s.To = s.From + s.Rows
	}
	return s, s.Pagination != 0
}

// readText returns the State that the last line of text describes or, if the last line does not describe one,
// the State that the first line describes.
func readText(text string) (State, bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	integer := func(digits string) int { n, _ := strconv.Atoi(digits); return n }
	for _, line := range []string{lines[len(lines)-1], lines[0]} {
		if len(line) > 200 {
			continue
		}
		s := State{Rows: len(lines) - 1}
		if m := pageText.FindStringSubmatch(line); m != nil {
			s.Pagination, s.Page, s.Pages = Pages, integer(m[1]), integer(m[2])
		} else if m := rangeText.FindStringSubmatch(line); m != nil {
			s.Pagination, s.From, s.To, s.Total = Total, max(integer(m[1])-1, 0), integer(m[2]), integer(m[3])
		} else if m := tokenText.FindStringSubmatch(line); m != nil && len(line) < 80 && !noToken.MatchString(m[1]) {
			s.Pagination, s.Next = Token, m[1]
		}
		if s.Pagination != 0 {
			return s, true
		}
	}
	return State{}, false
}

// Finished reports whether the results for one list, in the order of their calls, together hold the whole list.
// In a list that is read with tokens, a result without a token is the last one.
func Finished(states []State) bool {
	known := slices.DeleteFunc(slices.Clone(states), func(s State) bool { return s.Pagination == 0 })
	if len(known) == 0 {
		return false
	}
	last := known[len(known)-1]
	slices.SortStableFunc(known, func(a, b State) int { return a.From - b.From })
	rows, loose, seen := 0, 0, map[int]bool{}
	for _, s := range known {
		switch {
		case s.From < 0 && !seen[s.Page]:
			loose += s.Rows
		case s.From >= 0 && s.From <= rows:
			rows = max(rows, s.To)
		}
		if s.Page >= 1 && s.Page <= last.Pages || s.From < 0 {
			seen[s.Page] = true
		}
	}
	switch last.Pagination {
	case Pages:
		return len(seen) >= last.Pages
	case Total:
		return rows+loose >= last.Total
	}
	return slices.ContainsFunc(states, func(s State) bool { return s.Pagination == 0 || s.Last })
}

// number sets n to the first of the named members that is a non-negative integer. It returns false if there is
// no such member.
func number(members map[string]json.RawMessage, names []string, n *int) bool {
	var read int
	value := first(members, names, "0123456789")
	if value == nil || json.Unmarshal(value, &read) != nil {
		return false
	}
	*n = read
	return true
}

// first returns the value of the first named member whose JSON begins with one of the characters, or nil.
func first(members map[string]json.RawMessage, names []string, begins string) json.RawMessage {
	for _, name := range names {
		if value := members[name]; value != nil && strings.IndexByte(begins, value[0]) >= 0 {
			return value
		}
	}
	return nil
}

// plainText returns the text of a JSON string, and any other value as JSON.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

func isEmpty(scalar json.RawMessage) bool { return string(scalar) == "null" || string(scalar) == `""` }

func isNumber(value json.RawMessage) bool { return strings.IndexByte("-0123456789", value[0]) >= 0 }

// object returns a JSON object's members, with names in lower case and without underscores, or nil if raw is not an
// object.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return nil
	}
	list := make(map[string]json.RawMessage, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list[plain(name)] = members[name]
	}
	return list
}
