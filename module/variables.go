package module

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/sandbox"
)

// keeper is a [Sandbox] whose programs see what earlier ones declared, such as a
// *[sandbox.Session].
type keeper interface {
	Sandbox
	Variables(ctx context.Context) ([]sandbox.Variable, error)
}

// errForgotten says that the variables of earlier programs do not exist any more. The
// next program begins without them.
var errForgotten = errors.New("the variables of earlier programs are gone")

// maxVariables is how many variables the model is shown.
const maxVariables = 30

// variables tells the model which variables its programs begin with; "" if none.
func (r *codeRun) variables(ctx context.Context) (string, error) {
	kept, ok := r.box.(keeper)
	if !ok {
		return "", nil
	}
	list, err := kept.Variables(ctx)
	if errors.Is(err, errForgotten) {
		return "The variables of earlier programs are gone. Declare again what you need.", nil
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil: // if the session is of no use, the next program says so
		return "The variables of earlier programs cannot be listed.", nil
	}
	var lines []string
	for _, v := range list {
		if _, hidden := r.inputs[v.Name]; !hidden {
			lines = append(lines, "- "+v.String())
		}
	}
	if len(lines) == 0 {
		return "", nil
	}
	text := "Variables that earlier programs left and that you can use:"
	if older := len(lines) - maxVariables; older > 0 {
		lines = lines[older:]
		text += fmt.Sprintf("\n- %s that are not listed", plural(older, "older variable"))
	}
	return text + "\n" + cut(strings.Join(lines, "\n"), maxObservation), nil
}

// leftNothing is what the model is told of a program that failed in a session.
const leftNothing = "\n\nWhat the program declared or changed is gone; the variables of earlier programs are as they were."
