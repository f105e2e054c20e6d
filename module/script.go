package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Script is a [Program]'s program and what it was written for. A Script's file is JavaScript that begins with comments,
// for example:
//
//	// @program 1, for a module of github.com/writ-go/writ. The program runs only while its signature and the
//	// schemas of its tools are what these lines say. Delete them to make it a new program.
//	// @signature customer: str -> total: float
//	// @instructions Add up the orders of the customer.
//	// @tool 5d2c01aa orders.list(args: {customer: string}): {amount: number}[]
//	// @from optimize.Compile: 40 training, 20 validation, 20 test examples: score 1 (20 of 20 right; …
//	// @seen .customer is not empty
//	// @example {"inputs":{"customer":"ann"},"outputs":{"total":12}}
//
//	const list = await orders.list({customer});
//	submit({total: list.reduce((sum, order) => sum + order.amount, 0)});
type Script struct {
	// Code is the program, in JavaScript or in the language of Options.Compiler.
	Code string

	// Signature is the signature that the program was written for, in the notation of [signature.Parse]. If it is
	// empty, the program is new.
	Signature string

	// Instructions are the instructions that the program was written for: those of the Predictor, which may have been
	// optimized. Spaces and line breaks do not matter.
	Instructions string

	// Tools are the tools whose names occur in Code, even in a comment. Each entry has a hash of the tool's schemas and
	// the tool's declaration: "5d2c01aa orders.list(args: …): …". If Code has any other tool's name, the program is
	// not run.
	Tools []string

	// From says where the program came from, for people who read the file.
	From string

	// Seen are the kinds of values that the examples had, such as ".lines[].amount is negative", ".note is absent" or
	// `.mode is "fast"`, with "answer" before those of answers, and the tools that were called, such as
	// "calls shop.refund". If it is empty, kinds do not matter; see [Program].
	Seen []string

	// Examples are questions with the right answers. [Program.Verify] runs the program on them.
	Examples []Demo
}

// toolIn returns the tool's path and the hash of its schemas from an entry of Script.Tools.
func toolIn(line string) (schemas, path string, err error) {
	schemas, declaration, _ := strings.Cut(line, " ")
	path, _, found := strings.Cut(declaration, "(")
	switch {
	case !found:
		return "", "", errors.New("the declaration of the tool is missing")
	case !toolPath.MatchString(path):
		return "", "", fmt.Errorf("%q is not a tool name", shorten(path, 100))
	}
	return schemas, path, nil
}

// scriptTitle is the beginning of a script's file.
const scriptTitle = "" +
	"// @program 1, for a module of github.com/writ-go/writ. The program runs only while its signature and the\n" +
	"// schemas of its tools are what these lines say. Delete them to make it a new program.\n"

// Write writes a script's file. The same script always yields the same bytes. Write returns an error if [ReadScript]
// could not read them.
func (s Script) Write(w io.Writer) error {
	text, err := s.text()
	if err == nil {
		_, err = parseScript(text)
	}
	if err != nil {
		return fmt.Errorf("module: write the script: %w", err)
	}
	_, err = io.WriteString(w, text)
	return err
}

// text returns the content of a script's file.
func (s Script) text() (string, error) {
	if s.Signature == "" {
		return "", errors.New("the Script has no Signature; write the field Script of a Program, which has one")
	}
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
		line("tool", t)
	}
	line("from", s.From)
	for _, kind := range s.Seen {
		line("seen", kind)
	}
	for _, e := range s.Examples {
		raw, err := json.Marshal(e)
		if err != nil {
			return "", err
		}
		line("example", string(raw))
	}
	return b.String() + "\n" + strings.Trim(s.Code, "\n") + "\n", nil
}

// lineBreaks replaces the characters that would end a comment.
var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\u2028", " ", "\u2029", " ")

// maxScript is the maximum size of a script's file.
const maxScript = 4 << 20

// ReadScript reads a file that [Script.Write] wrote, even if people have edited it. A file without lines that begin
// with // @ is all code: a new program. Errors name the line. A file of more than 4 MB is an error.
func ReadScript(r io.Reader) (Script, error) {
	all, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	var s Script
	if err == nil {
		s, err = parseScript(strings.TrimPrefix(string(all), "\ufeff"))
	}
	if err != nil {
		return Script{}, fmt.Errorf("module: read the script: %w", err)
	}
	return s, nil
}

// scriptEntry matches an entry above the first line of code.
var scriptEntry = regexp.MustCompile(
	`\A(#!.*\n)?([ \t]*(//.*)?\r?\n)*?[ \t]*//[ \t]*@(program|signature|instructions|tool) `)

func parseScript(text string) (s Script, err error) {
	if len(text) > maxScript {
		return s, fmt.Errorf("the file is larger than %d MB; keep fewer examples", maxScript>>20)
	}
	if !strings.HasPrefix(text, "// @program ") {
		if at := scriptEntry.FindStringIndex(text); at != nil {
			return s, fmt.Errorf("line %d: the lines that begin with // @ must follow a first line // @program; "+
				"delete all of them to make it a new program", 1+strings.Count(text[:at[1]], "\n"))
		}
		return Script{Code: text}, nil
	}
	var instructions []string
	for n := 1; strings.HasPrefix(text, "//"); n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		entry, isEntry := strings.CutPrefix(strings.TrimSpace(line), "// @")
		if !isEntry {
			continue
		}
		key, value, _ := strings.Cut(entry, " ")
		if value = strings.TrimSpace(value); key == "instructions" {
			instructions = append(instructions, value)
		} else if err := s.add(key, value); err != nil {
			return s, fmt.Errorf("line %d: @%s: %w", n, key, err)
		}
	}
	if s.Signature == "" {
		return s, errors.New("the file has no line // @signature; " +
			"delete all lines that begin with // @ to make it a new program")
	}
	s.Instructions, s.Code = strings.Join(instructions, "\n"), strings.TrimLeft(text, "\r\n")
	return s, nil
}

// toolPath matches tool names. It is strict, because models see the names of tools that do not exist.
var toolPath = regexp.MustCompile(`^[\pL\pM\pN_$.]{1,200}$`)

// add adds an entry from a file to the script.
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
	case "tool":
		s.Tools = append(s.Tools, value)
		if _, _, err := toolIn(value); err != nil {
			return err
		}
	case "from":
		s.From = value
	case "seen":
		s.Seen = append(s.Seen, value)
	case "example":
		var d Demo
		if err := json.Unmarshal([]byte(value), &d); err != nil {
			return err
		}
		s.Examples = append(s.Examples, d)
	default:
		return errors.New("unknown entry; known are signature, instructions, tool, from, seen and example")
	}
	return nil
}

// compile prepares a script for a signature and a set of tools. If the program is new, compile completes the script
// with this signature and these tools.
func (s *Script) compile(spec *signature.Spec, set *tools.Set) (*compiled, error) {
	now := Script{Signature: spec.String(), Instructions: spec.Instructions(), Tools: mentioned(s.Code, set)}
	if s.Signature == "" {
		s.Signature, s.Instructions, s.Tools = now.Signature, now.Instructions, now.Tools
	}
	changes, err := s.changedSignature(now)
	if err != nil {
		return nil, err
	}
	changes = append(changes, s.changedTools(now.Tools, set)...)
	return &compiled{code: s.Code, outdated: strings.Join(changes, "; ")}, nil
}
