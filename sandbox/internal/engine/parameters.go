package engine

import "strings"

// plainParameters reports whether a text is a list of parameters in which there is
// no expression but literals, nor anything else that goja's parser could take for
// the beginning of something longer.
func plainParameters(text string) bool {
	p := parameters{text}
	return p.list("") && p.text == ""
}

// parameters is what is left of the text.
type parameters struct{ text string }

// list takes targets up to a closing bracket, which is not taken.
func (p *parameters) list(closing string) bool {
	if p.skip(); strings.HasPrefix(p.text, closing) && (closing != "" || p.text == "") {
		return true
	}
	for {
		if p.take("...") {
			return isVariable(p.word())
		}
		if !p.item(closing == "}") {
			return false
		}
		if !p.take(",") {
			return true
		}
	}
}

// item takes a target with its default; of a property, its key before.
func (p *parameters) item(property bool) bool {
	if property {
		if !isVariable(p.word()) {
			return false
		}
		if p.take(":") && !p.target() {
			return false
		}
	} else if !p.target() {
		return false
	}
	return !p.take("=") || p.literal()
}

func (p *parameters) target() bool {
	switch {
	case p.take("{"):
		return p.list("}") && p.take("}")
	case p.take("["):
		return p.list("]") && p.take("]")
	}
	return isVariable(p.word())
}

func (p *parameters) literal() bool {
	switch {
	case p.take("{"):
		return p.take("}")
	case p.take("["):
		return p.take("]")
	case p.take(`"`):
		return p.quoted('"')
	case p.take("'"):
		return p.quoted('\'')
	}
	p.take("-")
	word := p.word()
	return word == "null" || word == "true" || word == "false" || isVariable(word) || word != "" && strings.Trim(word, "0123456789") == ""
}

// quoted takes the rest of a string that has only what any text may have.
func (p *parameters) quoted(quote byte) bool {
	for i := range len(p.text) {
		switch c := p.text[i]; {
		case c == quote:
			p.text = p.text[i+1:]
			return true
		case !inWord(c) && strings.IndexByte(" ,.:-+%", c) < 0:
			return false
		}
	}
	return false
}

func (p *parameters) word() string {
	p.skip()
	end := 0
	for end < len(p.text) && inWord(p.text[end]) {
		end++
	}
	word := p.text[:end]
	p.text = p.text[end:]
	p.skip()
	return word
}

func (p *parameters) take(token string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.text, token)
	p.text = rest
	p.skip()
	return ok
}

func (p *parameters) skip() { p.text = strings.TrimLeft(p.text, " \t") }

// isVariable reports whether a word is certainly the name of a variable.
func isVariable(word string) bool {
	return word != "" && word[0] > '9' && !reserved[word] || word != "" && word[0] == '$'
}

// reserved are the words that mean something else somewhere.
var reserved = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(`async await break case catch class const continue debugger default delete do else
		enum export extends false finally for function if implements import in instanceof interface let new null of package
		private protected public return static super switch this throw true try typeof var void while with yield`) {
		words[word] = true
	}
	return words
}()
