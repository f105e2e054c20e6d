package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// TestHostileSchema checks that the literal arguments of a program do not take longer than
// its time, whatever the schema of the tool. The schema takes a tenth of a second for
// each call.
func TestHostileSchema(t *testing.T) {
	t.Parallel()
	defs := `"d0":{"type":"integer"}`
	for i := range 3 {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"},`, i)
		defs += fmt.Sprintf(`,"d%d":{"allOf":[%s{}]}`, i+1, strings.Repeat(ref, 16))
	}
	var properties, args []string
	for i := range 14 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d3"}`, i))
		args = append(args, fmt.Sprintf(`p%d:1`, i))
	}
	set, err := tools.NewSet(t.Context(), &tools.Tool{
		Name: "t",
		InputSchema: json.RawMessage(
			`{"type":"object","$defs":{` + defs + `},"properties":{` + strings.Join(properties, ",") + `}}`),
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(&sandbox.Options{Limits: sandbox.Limits{Time: 300 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	source := strings.Repeat("await t({"+strings.Join(args, ",")+"});\n", 500)
	start := time.Now()
	out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
	if err != nil || out.Failure == nil || out.Failure.Kind != sandbox.KindTimeout {
		t.Errorf("%+v, %v", out, err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the run took %v", took)
	}
}
