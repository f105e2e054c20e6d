package declare_test
import ("testing";"os";"fmt";"github.com/writ-go/writ/tools/declare")
func TestZZ(t *testing.T){
	for _,s:=range servers{ set:=newSet(t, recorded(t,s)...)
	for _,b:=range []int{0,1000000,6000,3000,1500,800,400,150,60}{ os.WriteFile(fmt.Sprintf("/tmp/d1lev/%s.%07d.ts",s,b), []byte(declare.TypeScript(set,b)),0o644)}
	var all string; for _,b:=range set.Bindings(){all+=declare.Describe(b)}
	os.WriteFile("/tmp/d1lev/"+s+".describe.ts",[]byte(all),0o644)
	}
}
