package module_test
import ("testing";"fmt";"context";"errors";"github.com/writ-go/writ/sandbox";"github.com/writ-go/writ/tools";"github.com/writ-go/writ/module";"github.com/writ-go/writ/module/llmtest";"github.com/writ-go/writ/signature")
type In struct{ Limit int `json:"limit"` }
type Out struct{ Total float64 `json:"total" jsonschema:"minimum=0"`; Names []string `json:"names"` }
type A struct { ID string `json:"id"` }
func TestTmp(t *testing.T){
	n := 0
	set, err := tools.NewSet(t.Context(), tools.Func("refund", "Refund one order.", func(ctx context.Context, in A) (int, error){ n++; return n, nil }, nil))
	if err!=nil {t.Fatal(err)}
	box, err := sandbox.New(nil)
	if err!=nil {t.Fatal(err)}
	defer box.Close()
	model := llmtest.New(
	"[[ ## reasoning ## ]]\nhm\n[[ ## code ## ]]\n```js\nawait refund({idd: 'a'})\n```\n[[ ## completed ## ]]",
	"[[ ## reasoning ## ]]\nhm\n[[ ## code ## ]]\n```js\nawait refund({id: 'a'}); console.log('x'); null.foo\n```\n[[ ## completed ## ]]",
	"no program",
	"Sure\n```js\nconst n = await refund({id: 'a'}); submit({total: -n, names: [limit]})\n```\n",
	"```\nconst n = await refund({id: 'a'}); submit({total: n, names: ['l'+limit]})\n```",
	)
	ca := module.NewCodeAct(signature.Must(signature.New[In,Out]("Do it.")), model, box, set, nil)
	pred, err := ca.Run(t.Context(), In{3})
	var inc *module.IncompleteError
	if errors.As(err,&inc) { fmt.Println(err) }
	fmt.Println(pred, n)
	for i, r := range model.Requests() { if i==0 { fmt.Println(r.Text()) } else { fmt.Println("=======\n", r.Last()) } }
	p := module.NewPredict(signature.Must(signature.New[In,Out]("Do it.")), llmtest.New("Total: 5", "```json\n{\"total\": 4, \"names\": [\"x\"]}\n```"), nil)
	pp, err := p.Run(t.Context(), In{3})
	fmt.Println(pp, err)
}
