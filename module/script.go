package module

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Script is the program of a [Program] and what it was written for. It is kept in a file of JavaScript that begins
// with comments, for example:
//
//	// @program 1, for a module of github.com/writ-go/writ. The program runs only while its signature and the
//	// schemas of its tools are what these lines say. Delete them to make it a new program.
//	// @signature customer: str -> total: float
//	// @instructions Add up the orders of the customer.
//	// @tool 5d2c01aa orders.list(args: {customer: string}): {amount: number}[]
//	// @from optimize.Compile: 20 examples, 10 of them held out; score 1, CodeAct 0.97
//	// @example {"inputs":{"customer":"ann"},"outputs":{"total":12}}
//
//	const list = await orders.list({customer});
//	submit({total: list.reduce((sum, order) => sum + order.amount, 0)});
type Script struct {
	// Code is JavaScript, or the language of Options.Compiler.
	Code string

	// Signature is what the program answers, in the notation of [signature.Parse]. If it is empty, the program is new.
	Signature string

	// Instructions are those of the signature. Spaces and line breaks do not matter.
	Instructions string

	// Tools are the tools that the program mentions.
	Tools []ScriptTool

	// From says where the program came from, for people.
	From string

	// Examples are questions that the program answered correctly, for tests and for the next compilation.
	Examples []Demo
}

// ScriptTool is a tool for which a program was written.
type ScriptTool struct {
	Path        string // as programs write it: orders.list
	Declaration string // for people
	Schemas     string // identifies the schemas of the argument and the result, apart from descriptions
}

// scriptTitle is the beginning of the file of a script.
const scriptTitle = "" +
	"// @program 1, for a module of github.com/writ-go/writ. The program runs only while its signature and the\n" +
	"// schemas of its tools are what these lines say. Delete them to make it a new program.\n"

// Write writes the file of a script. The same script always gives the same bytes.
func (s Script) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(scriptTitle)
	line := func(key, text string) {
		if text != "" {
			fmt.Fprintf(&b, "// @%s %s\n", key, lineBreaks.Replace(text))
		}
	}
	line("signature", s.Signature)
	for text := range strings.Lines(strings.TrimSpace(s.Instructions)) {
		line("instructions", strings.TrimSpace(text))
	}
	for _, t := range s.Tools {
		line("tool", t.Schemas+" "+t.Declaration)
	}
	line("from", s.From)
	for _, e := range s.Examples {
		raw, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("module: write the script: %w", err)
		}
		line("example", string(raw))
	}
	_, err := io.WriteString(w, b.String()+"\n"+strings.Trim(s.Code, "\n")+"\n")
	return err
}

// lineBreaks replaces what would end a comment.
var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\u2028", " ", "\u2029", " ")

// ReadScript reads what [Script.Write] wrote, after edits by people. A file that does not begin with "// @program" is
// all code: a new program. Errors name the line.
func ReadScript(r io.Reader) (s Script, err error) {
	all, err := io.ReadAll(r)
	if err != nil {
		return s, fmt.Errorf("module: read the script: %w", err)
	}
	rest := strings.TrimPrefix(string(all), "\ufeff")
	if !strings.HasPrefix(rest, "// @program ") {
		s.Code = rest
		return s, nil
	}
	lines := bufio.NewScanner(strings.NewReader(rest))
	lines.Buffer(nil, len(rest)+1)
	for n := 1; lines.Scan() && strings.HasPrefix(lines.Text(), "//"); n++ {
		_, rest, _ = strings.Cut(rest, "\n")
		entry, isEntry := strings.CutPrefix(strings.TrimSpace(lines.Text()), "// @")
		if !isEntry {
			continue
		}
		key, value, _ := strings.Cut(entry, " ")
		if err := s.add(key, strings.TrimSpace(value)); err != nil {
			return Script{}, fmt.Errorf("module: read the script: line %d: @%s: %w", n, key, err)
		}
	}
	if s.Code = strings.TrimLeft(rest, "\r\n"); s.Signature == "" {
		return Script{}, errors.New("module: read the script: it has no line // @signature; " +
			"delete all lines that begin with // @ to make it a new program")
	}
	return s, nil
}

// add adds an entry of a file.
func (s *Script) add(key, value string) error {
	switch key {
	case "program":
		if version, _, _ := strings.Cut(value, ","); version != "1" {
			return fmt.Errorf("the file has version %q, but this version of Writ reads version 1", version)
		}
	case "signature":
		s.Signature = value
		if _, err := signature.Parse(value, ""); err != nil {
			return err
		}
	case "instructions":
		s.Instructions = strings.TrimPrefix(s.Instructions+"\n"+value, "\n")
	case "tool":
		schemas, declaration, _ := strings.Cut(value, " ")
		path, _, found := strings.Cut(declaration, "(")
		if !found {
			return errors.New("the declaration of the tool is missing")
		}
		s.Tools = append(s.Tools, ScriptTool{path, declaration, schemas})
	case "from":
		s.From = value
	case "example":
		var d Demo
		if err := json.Unmarshal([]byte(value), &d); err != nil {
			return err
		}
		s.Examples = append(s.Examples, d)
	default:
		return errors.New("unknown entry; this version of Writ reads signature, instructions, tool, from and example")
	}
	return nil
}

// compile prepares a script for a signature and a set of tools. A new program gets the declarations of both.
func (s *Script) compile(spec *signature.Spec, set *tools.Set) (*compiled, error) {
	now := Script{Signature: spec.String(), Instructions: spec.Instructions(), Tools: mentioned(s.Code, set)}
	if s.Signature == "" {
		s.Signature, s.Instructions, s.Tools = now.Signature, now.Instructions, now.Tools
	}
	c := &compiled{code: s.Code}
	changed, err := s.changedSignature(now)
	if err != nil {
		return nil, err
	}
	for _, message := range append(changed, s.changedTools(set)...) {
		c.changes = append(c.changes, sandbox.Finding{Kind: KindChanged, Message: message})
	}
	return c, nil
}
