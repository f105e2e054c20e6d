package module_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
	"github.com/writ-go/writ/signature"
)

// Programs may be TypeScript and import packages: the prompt says so, and what is wrong
// with one is shown in its own text.
func TestCompiler(t *testing.T) {
	t.Parallel()
	bundler, err := esbuild.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bundler.Close() })
	box, err := sandbox.New(patiently(sandbox.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	packages := bundler.Packages(fstest.MapFS{
		"node_modules/sums/package.json": {Data: []byte(`{"main": "sums.js"}`)},
		"node_modules/sums/sums.js":      {Data: []byte(`export const sum = list => list.reduce((a, b) => a + b, 0)`)},
	}, []string{"sums"})
	sig := signature.Must(signature.Parse("numbers: list[int] -> total: int", "Add them up."))
	model := llmtest.New(
		"```ts\nimport {sum} from 'sums';\nconst total: number = sum(numbers);\nsubmit({total: totl});\n```",
		"```ts\nimport {sum} from 'sums';\nconst total: number = sum(numbers);\nsubmit({total});\n```",
	)
	in, err := signature.ValuesOf(map[string]any{"numbers": []int{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := module.NewCodeAct(sig, model, box, nil, &module.Options{Compiler: packages}).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if total, _ := pred.Output.Get("total"); string(total) != "6" {
		t.Errorf("the total is %s", total)
	}
	asked := model.Requests()
	if system := asked[0].Text(); !strings.Contains(system, packages.Describe()) || strings.Contains(system, "import, require") {
		t.Errorf("the prompt does not say what programs are:\n%s", system)
	}
	want := "3 | submit({total: totl});"
	if told := pred.Trajectory.Steps[0].Observation; !strings.Contains(told, want) {
		t.Errorf("the model was told\n%s\nwithout\n%s", told, want)
	}
}
