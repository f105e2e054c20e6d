package declare_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

func TestSignature(t *testing.T) {
	t.Parallel()
	handler := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	const schema = `{"type":"object","required":["amenity_id","month"],"properties":{
		"amenity_id":{"type":"string","description":"What it is about."},
		"month":{"type":"string","description":"YYYY-MM"},
		"unit":{"enum":["day","week"]}}}`
	for name, want := range map[string]struct {
		tool *tools.Tool
		most int
		text string
	}{
		"whole": {
			&tools.Tool{Namespace: "facilities", Name: "deviations", InputSchema: json.RawMessage(schema)}, 600,
			`facilities.deviations(args: {amenity_id: string /* What it is about. */; month: string /* YYYY-MM */; unit?: ` +
				`"day" | "week"})`,
		},
		"cut": {
			&tools.Tool{Namespace: "facilities", Name: "deviations", InputSchema: json.RawMessage(schema)}, 40,
			`facilities.deviations(args: {amenity_…`,
		},
		"parameters": {
			&tools.Tool{Name: "ask", Params: []string{"unit", "month"}, InputSchema: json.RawMessage(schema),
				Hints: tools.Hints{Class: tools.Read}}, 600,
			`ask(unit?: "day" | "week", month: string)`,
		},
		"identifier": {&tools.Tool{Namespace: "erp", Name: "stock.levels"}, 600, `erp.stock_levels(args?: object)`},
		"nothing": {&tools.Tool{Name: "ping", InputSchema: json.RawMessage(`{"type":"object","properties":{},` +
			`"additionalProperties":false}`)}, 600, `ping()`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want.tool.Handler = handler
			set, err := tools.NewSet(t.Context(), want.tool)
			if err != nil {
				t.Fatal(err)
			}
			if got := declare.Signature(set.Bindings()[0], want.most); got != want.text {
				t.Errorf("got  %s\nwant %s", got, want.text)
			}
		})
	}
}
