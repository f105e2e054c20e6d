package declare

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// family is a group of names that contains every combination of its parts: {list_, get_}
// and {order, user} are list_order, list_user, get_order and get_user.
type family [][]string

// maxParts is the maximum number of parts in a family, which limits the work.
const maxParts = 4

// families groups names so that each is in one family. Names that fit no other family are
// in the last one, which has a single part.
func families(names []string) []family {
	list := join([]string{""}, slices.Sorted(slices.Values(names)), maxParts)
	for i, f := range list {
		list[i] = f[1:]
	}
	slices.SortFunc(list, func(a, b family) int {
		if (len(a) == 1) != (len(b) == 1) {
			return len(b) - len(a)
		}
		return strings.Compare(a.String(), b.String())
	})
	return list
}

// join combines first words with the remainders of names. The remainders form one part or
// several families, whichever is shorter.
func join(heads, rests []string, parts int) []family {
	if len(heads) == 0 || len(rests) == 0 {
		return nil
	}
	var list []family
	var single []string
	for _, f := range factor(rests, parts) {
		whole, names := append(family{heads}, f...), f.names()
		if len(f) == 1 || cost(family{names}) <= cost(whole) {
			single = append(single, names...)
		} else {
			list = append(list, whole)
		}
	}
	if len(single) > 0 {
		slices.Sort(single)
		list = append(list, family{heads, single})
	}
	return shorter([]family{{heads, rests}}, list)
}

// factor groups names by their first words or by their remainders, whichever yields the
// shorter text.
func factor(names []string, parts int) []family {
	heads, rests := edges{}, edges{}
	var single []string
	for _, name := range names {
		head, rest := cutWord(name)
		if rest == "" || parts == 0 {
			single = append(single, name)
			continue
		}
		heads[rest] = append(heads[rest], head)
		rests[head] = append(rests[head], rest)
	}
	byHead := rests.group(heads, func(some, values []string) []family { return join(some, values, parts-1) })
	byRest := heads.group(rests, func(some, values []string) []family { return join(values, some, parts-1) })
	list := shorter(byHead, byRest)
	if len(single) > 0 {
		list = append(list, family{single})
	}
	return list
}

// edges map names' first words to the remainders of the names, or the reverse.
type edges map[string][]string

// group pairs keys with equal values: the verbs that exist for the same nouns, or the
// nouns for which the same verbs exist. A value that only one key has is ignored in the
// comparison, and is paired with that key alone.
func (e edges) group(reverse edges, pair func(keys, values []string) []family) []family {
	common := func(value string) bool { return len(reverse[value]) > 1 }
	same := edges{}
	for _, key := range slices.Sorted(maps.Keys(e)) {
		id := strings.Join(filter(e[key], common), " ")
		same[id] = append(same[id], key)
	}
	var list []family
	for _, id := range slices.Sorted(maps.Keys(same)) {
		keys := same[id]
		if len(keys) == 1 {
			list = append(list, pair(keys, e[keys[0]])...)
			continue
		}
		for _, key := range keys {
			own := filter(e[key], func(value string) bool { return !common(value) })
			list = append(list, pair([]string{key}, own)...)
		}
		list = append(list, pair(keys, filter(e[keys[0]], common))...)
	}
	return list
}

// shorter returns the families that take fewer tokens.
func shorter(a, b []family) []family {
	if cost(b...) < cost(a...) {
		return b
	}
	return a
}

// cost counts the words and punctuation marks of families.
func cost(list ...family) int {
	n := 0
	for _, f := range list {
		last := ' '
		for _, r := range f.String() + "," {
			word := wordRune(r) && (!wordRune(last) || unicode.IsUpper(r))
			if word || !wordRune(r) && r != '_' {
				n++
			}
			last = r
		}
	}
	return n
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// String returns a family as in {list,get}_{order,user}.
func (f family) String() string {
	var b strings.Builder
	for _, parts := range f {
		if len(parts) == 1 {
			b.WriteString(parts[0])
			continue
		}
		end := "_"
		for _, part := range parts {
			if !strings.HasSuffix(part, end) {
				end = ""
			}
		}
		b.WriteByte('{')
		for i, part := range parts {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strings.TrimSuffix(part, end))
		}
		b.WriteString("}" + end)
	}
	return b.String()
}

func (f family) names() []string {
	list := []string{""}
	for _, parts := range f {
		var longer []string
		for _, start := range list {
			for _, part := range parts {
				longer = append(longer, start+part)
			}
		}
		list = longer
	}
	return list
}

// cutWord cuts a name after its first word: list_ and orders, or list and Orders.
func cutWord(name string) (word, rest string) {
	last := ' '
	for i, r := range name {
		if last == '_' && r != '_' && strings.Trim(name[:i], "_") != "" || unicode.IsUpper(r) && unicode.IsLower(last) {
			return name[:i], name[i:]
		}
		last = r
	}
	return name, ""
}

func filter(list []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !keep(s) })
}
