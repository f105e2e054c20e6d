package prompt

import (
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Advise are the instructions of an advisor, which is shown the calls of a program whose output is not good enough.
var Advise = unfolded(`
The output of a program that asks language models was judged not good enough. Find the part of the program that is
  to blame, and advise it what to do differently for the same question or a similar one.
A part sees only its own advice: no question, no reply, no advice to other parts. So be concrete: say in which case
  it goes wrong, what was wrong, and what to do instead. If a part is not to blame, leave its advice empty.`)

// Part describes a part of the program to an advisor.
func Part(path string, spec *signature.Spec) string {
	if spec == nil {
		return "\n" + path + "\n"
	}
	text := fmt.Sprintf("\n%s\n- inputs: %s\n- outputs: %s\n",
		path, spec.InputSchema().TypeScript(nil), spec.OutputTypeScript())
	if task := strings.TrimSpace(spec.Instructions()); task != "" {
		text += "- instructions: " + strings.ReplaceAll(task, "\n", "\n  ") + "\n"
	}
	return text
}

// Parts is the heading above the parts.
const Parts = "The parts of the program:\n"

// Advice is the hint for an attempt that follows one for which a part got advice.
func Advice(advice string) string {
	return "Advice from an earlier attempt:\n" + Cut(strings.TrimSpace(advice), MaxText/2)
}

// Feedback is the hint for an attempt that follows one whose output was not good enough.
func Feedback(output, feedback string) string {
	return "An earlier answer was not good enough:\n" + Cut(output, MaxText) + "\nHow to improve it:\n" + feedback
}
