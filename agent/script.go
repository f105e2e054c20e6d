package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/tokens"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// NewScript returns the last program of an Agent's recorded run, which gave the answer, as a Script for the folder
// Options.Programs. The task becomes the Script's instructions, which describe the program to models.
//
// Each input has a name and a JSON string or number. NewScript replaces every string and decimal number in the program
// that has this value, but no parts of strings, templates and names of properties. It is an error if the program does
// not have the value, or uses the name for something else. NewScript checks the program as [WithPrograms] does.
func NewScript(
	ctx context.Context, run module.Trajectory, task string, inputs signature.Values, set *tools.Set,
	box module.Sandbox,
) (s module.Script, err error) {
	defer func() {
		if err != nil {
			s, err = module.Script{}, fmt.Errorf("agent: the script: %w", err)
		}
	}()
	var last module.Step
	if n := len(run.Steps); n > 0 {
		last = run.Steps[n-1]
	}
	if last.Code == "" || last.Answer == nil || last.Outcome == nil || last.Outcome.Failure != nil || last.Extracted {
		return s, errors.New("the run has no program that gave its answer; choose another run")
	}
	code, fields, err := withInputs(last.Code, inputs)
	if err != nil {
		return s, err
	}
	sig, err := signature.Parse(strings.Join(fields, ", ")+" -> answer: str", task)
	if err != nil {
		return s, err
	}
	s = module.Script{Code: code, From: "a run of an agent, " + run.Began.UTC().Format("2006-01-02 15:04")}
	p := module.NewProgram(sig, s, box, set, nil)
	return p.Script, p.Check(ctx)
}

// withInputs replaces constants in a program by inputs. It also returns the inputs in the notation of
// [signature.Parse].
func withInputs(code string, inputs signature.Values) (_ string, fields []string, err error) {
	names, used, constants := map[any]string{}, map[string]bool{}, []string{}
	for _, in := range inputs {
		var v any
		if err := json.Unmarshal(in.JSON, &v); err != nil {
			return "", nil, err
		}
		kind := "float"
		if n, isNumber := v.(float64); isNumber && n == math.Trunc(n) {
			kind = "int"
		} else if _, isString := v.(string); isString {
			kind = "str"
		} else if !isNumber {
			return "", nil, fmt.Errorf("the constant %s is neither a string nor a number", in.JSON)
		}
		if names[v] != "" {
			return "", nil, fmt.Errorf("the inputs %s and %s have the same constant", names[v], in.Name)
		}
		names[v], fields = in.Name, append(fields, in.Name+": "+kind)
	}
	list, rest := tokens.Split(code)
	if rest != "" {
		return "", nil, fmt.Errorf("the program cannot be read from %.40q on", rest)
	}
	for i, t := range list {
		v := valueOf(t)
		_, taken := inputs.Get(t.Text)
		switch {
		case isProperty(list, i):
		case taken && js.IsIdentifier(t.Kind):
			return "", nil, fmt.Errorf("the program has its own %s; choose another name for the input", t.Text)
		case v != nil && names[v] != "":
			used[names[v]] = true
			list[i] = tokens.Token{Kind: js.IdentifierToken, Text: names[v]}
		case v != nil && !slices.Contains(constants, t.Text):
			constants = append(constants, t.Text)
		}
	}
	for _, in := range inputs {
		if !used[in.Name] {
			return "", nil, fmt.Errorf("the program does not have the constant %s of the input %s; it has: %s",
				in.JSON, in.Name, display.OneLine(display.Cut(strings.Join(constants, ", "), 500)))
		}
	}
	var b strings.Builder
	for i, t := range list {
		if i > 0 && js.IsIdentifierName(list[i-1].Kind) && js.IsIdentifierName(t.Kind) { // return"x"
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String(), fields, nil
}

// valueOf returns the value of a string or a decimal number, or nil.
func valueOf(t tokens.Token) (v any) {
	switch t.Kind {
	case js.StringToken:
		text := strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `\"`, `\"`, `"`, `\"`).Replace(t.Text[1 : len(t.Text)-1])
		_ = json.Unmarshal([]byte(`"`+text+`"`), &v) // nil if it has an escape that JSON does not have
	case js.DecimalToken, js.IntegerToken:
		if n, err := strconv.ParseFloat(strings.ReplaceAll(t.Text, "_", ""), 64); err == nil {
			v = n
		}
	}
	return v
}

// isProperty reports whether a token is the name of a property.
func isProperty(list []tokens.Token, i int) bool {
	next := func(step int) string {
		j := i + step
		for j >= 0 && j < len(list) && list[j].Blank() {
			j += step
		}
		if j < 0 || j >= len(list) {
			return ""
		}
		return list[j].Text
	}
	before, after := next(-1), next(1)
	return before == "." || before == "?." || (before == "{" || before == ",") && after == ":" ||
		list[i].Kind == js.StringToken && after == "("
}
