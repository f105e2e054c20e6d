package sandbox_test
import ("testing";"fmt";"context";"github.com/writ-go/writ/sandbox";"github.com/writ-go/writ/tools";"errors")
type In struct{ Path string `json:"path"`; Limit int `json:"limit,omitempty"` }
func TestTmp(t *testing.T){
	set, err := tools.NewSet(t.Context(), tools.Func("read", "Reads.", func(ctx context.Context, in In) (string, error){ if in.Path=="x" {return "", errors.New("no such file")}; return "text of "+in.Path, nil }, nil))
	if err!=nil {t.Fatal(err)}
	box, err := sandbox.NewInProcess(nil)
	if err!=nil {t.Fatal(err)}
	for _, src := range []string{`await read({path:"a"})`, `const [a,b]=await Promise.all([read({path:"a"}),read({path:"b"})]); console.log(a,{b}); a.length`, `await read({pth:"a", limit: "x"}); reed(); foo`, `let x = 1;
  await read({path:"x"})`, `for(;;);`, `fetch("x")`, `for (let i=0;i<200;i++) await read({path:"a"})`, `try { await read({path:5+1}) } catch(e) { return {n: e.name, k: e.kind, t: e.tool, m: e.message, i: e instanceof ToolError} }`} {
		out, err := box.Run(t.Context(), sandbox.Program{Source: src, Tools: set, Timeout: 300e6, Submit: true})
		fmt.Println("-----", src)
		if err!=nil { fmt.Println("ERR", err); continue}
		fmt.Printf("%s %v %+v out=%q\n", out.Value, out.Duration, len(out.Calls), out.Stdout.Text)
		if out.Failure!=nil { fmt.Println(out.Failure) }
	}
}
