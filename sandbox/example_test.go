package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

func ExampleSandbox_Run() {
	ctx := context.Background()
	type city struct {
		Name string `json:"name"`
	}
	weather := func(_ context.Context, c city) (int, error) { return len(c.Name), nil }
	set, err := tools.NewSet(ctx, tools.Func("weather", "Degrees in a city.", weather, nil))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	out, err := box.Run(ctx, sandbox.Program{
		Source: `const degrees = await Promise.all(cities.map(name => weather({name})));
Math.max(...degrees)`,
		Inputs: map[string]any{"cities": []string{"Rome", "Oslo", "Lisbon"}},
		Tools:  set,
	})
	if err != nil {
		log.Fatal(err)
	}
	var highest int
	if err := out.Decode(&highest); err != nil {
		log.Fatal(err)
	}
	fmt.Println(highest, len(out.Calls))
	// Output: 6 3
}

// A program that never ends is stopped; the sandbox remains usable.
func ExampleSandbox_Run_endlessLoop() {
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	ctx := context.Background()
	for _, program := range []sandbox.Program{
		{Source: `for (;;) {}`, Limits: sandbox.Limits{Time: 100 * time.Millisecond}},
		{Source: `1 + 1`},
	} {
		out, err := box.Run(ctx, program)
		if err != nil {
			log.Fatal(err)
		}
		if out.Failure != nil {
			fmt.Println(out.Failure.Kind)
			continue
		}
		fmt.Println(string(out.Value))
	}
	// Output:
	// timeout
	// 2
}

// Decode returns the failure of a program as an error.
func ExampleOutcome_Decode() {
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	out, err := box.Run(context.Background(), sandbox.Program{Source: "const x = 1;\nx.toFixed(2).foo()"})
	if err != nil {
		log.Fatal(err)
	}
	var failure *sandbox.Failure
	if errors.As(out.Decode(new(string)), &failure) {
		fmt.Println(failure)
	}
	// Output:
	// line 2, column 14: TypeError: foo is not a function
	// 2 | x.toFixed(2).foo()
	//   |              ^
}

func ExampleSandbox_Check() {
	ctx := context.Background()
	type file struct {
		Path string `json:"path"`
	}
	read := func(_ context.Context, f file) (string, error) { return "", nil }
	set, err := tools.NewSet(ctx, tools.Func("read", "Read a file.", read, nil))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	review, err := box.Check(ctx, sandbox.Program{Source: `await read({pth: "a"});
await reed({path: "b"})`, Tools: set})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range review.Findings {
		fmt.Println(f)
	}
	// Output:
	// line 1, column 7: read: path is required; pth is not a known property (did you mean path?) (it is declared as read(args: {path: string}))
	// 1 | await read({pth: "a"});
	//   |       ^
	// line 2, column 7: reed is not defined (did you mean read(args: {path: string})?)
	// 2 | await reed({path: "b"})
	//   |       ^
}

// Programs of a session see the declarations of earlier ones. A program that fails leaves
// no trace.
func ExampleSandbox_NewSession() {
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	session := box.NewSession(nil)
	for _, source := range []string{
		`const prices = [3, 5]; const total = () => prices.reduce((a, b) => a + b)`,
		`prices.push(100); throw new Error("that was too much")`,
		`prices.push(2); total()`,
	} {
		out, err := session.Run(context.Background(), sandbox.Program{Source: source})
		if err != nil {
			log.Fatal(err)
		}
		if out.Failure != nil {
			fmt.Println(out.Failure.Message)
			continue
		}
		fmt.Println(string(out.Value))
	}
	// Output:
	//
	// Error: that was too much
	// 10
}
