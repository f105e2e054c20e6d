package declare
import ("encoding/json";"testing";"fmt";"context";"github.com/writ-go/writ/tools")
type In struct{ Path string `json:"path" jsonschema:"description=Absolute path."`; Limit int `json:"limit,omitempty" jsonschema:"minimum=1"` }
func TestTmp(t *testing.T){
	set, err := tools.NewSet(t.Context(), tools.Func("read", "Reads. A file.", func(ctx context.Context, in In) ([]string, error){ return nil, nil}, nil),
	&tools.Tool{Namespace:"my server", Name:"odd/name", Handler: func(ctx context.Context, a json.RawMessage)(json.RawMessage,error){return nil,nil}}) 
	if err!=nil {t.Fatal(err)}
	fmt.Println(TypeScript(set,0), set.Warnings())
}
