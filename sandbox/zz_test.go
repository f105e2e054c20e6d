package sandbox_test
import ("testing";"fmt";"github.com/writ-go/writ/sandbox")
func TestZZ(t *testing.T){
 for _, mem := range []int64{32<<20, 64<<20,128<<20} {
  box,err:=sandbox.New(&sandbox.Options{Limits:sandbox.Limits{Memory:mem}}); if err!=nil {t.Fatal(err)}
  for _,src:=range []string{`let a; for (let i = 0; i < 1e6; i++) a = [i]; 1`,`let s = ""; for (let i = 0; i < 2e4; i++) s = "(" + s + ")"; 1`,`let s = ""; for (let i = 0; i < 5e4; i++) s = "(" + s + ")"; 1`, `const a=[]; for(let i=0;i<1e5;i++) a.push({i}); a.length`} {
   n:=map[string]int{}
   for i:=0;i<4;i++ { out,err:=box.Run(t.Context(),sandbox.Program{Source:src}); k:="ok"; if err!=nil {k=err.Error()} else if out.Failure!=nil {k=string(out.Failure.Kind)}; n[k]++
     out,err=box.Run(t.Context(),sandbox.Program{Source:"1+1"}); if err!=nil||out.Failure!=nil { n["next died"]++ } }
   fmt.Println(mem>>20, src, n)
  }
  box.Close()
 }
}
