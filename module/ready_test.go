package module_test

import (
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
)

// What a program could not be run with is found before a model is asked for one.
func TestReadyBeforeAsking(t *testing.T) {
	t.Parallel()
	closed, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	isolated, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	isolated.Close()
	bundler, err := esbuild.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	bundler.Close()
	const (
		isClosed  = "sandbox: it has been closed"
		isEmpty   = "sandbox: this one is nil or empty; make one by New, and look at the error that it returned"
		noBundler = "esbuild: this Bundler is nil or empty; create one with New and check the error that New returns"
	)
	open := inProcess(t)
	for _, c := range []struct {
		box      *sandbox.Sandbox
		compiler sandbox.Compiler
		want     string
	}{
		{closed, nil, isClosed},
		{isolated, nil, isClosed},
		{&sandbox.Sandbox{}, nil, isEmpty},
		{open, (*esbuild.Bundler)(nil), noBundler},
		{open, &esbuild.Bundler{}, noBundler},
		{open, bundler, "esbuild: the bundler has been closed"},
		{open, (*esbuild.Bundler)(nil).Packages(nil, nil), noBundler},
		{open, bundler.Packages(nil, nil), "esbuild: the bundler has been closed"},
	} {
		model := llmtest.New()
		o := &module.Options{Compiler: c.compiler}
		for _, m := range []module.Module[orders, sum]{
			module.NewCodeAct(adding, model, c.box, nil, o),
			module.NewProgramOfThought(adding, model, c.box, o),
			module.NewRLM(adding, model, c.box, nil, &module.RLMOptions{Options: *o}),
			module.NewRLM(adding, model, c.box, nil, &module.RLMOptions{Options: *o, Depth: 2}),
		} {
			if _, err := m.Run(t.Context(), anything); err == nil || err.Error() != c.want {
				t.Errorf("%T: got %v, want %s", m, err, c.want)
			}
		}
		if n := len(model.Requests()); n > 0 {
			t.Errorf("%s: the model was asked %d times", c.want, n)
		}
	}
}
