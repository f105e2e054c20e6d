package module_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// oddlyNamed is a server whose names are no identifiers.
func oddlyNamed(t *testing.T) *tools.Set {
	t.Helper()
	tool := func(name, description, input string, answer func() (json.RawMessage, error)) *tools.Tool {
		return &tools.Tool{Namespace: "my server", Name: name, Description: description, InputSchema: json.RawMessage(input),
			Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return answer() }}
	}
	list := tool("list-orders", "List orders.", `{"type": "object", "properties": {"limit": {"type": "integer"}}}`,
		func() (json.RawMessage, error) { return json.RawMessage(`["A-1"]`), nil })
	list.Claims.ReadOnly = true
	cancel := tool("cancel.order", "Cancel an order.", `{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}`,
		func() (json.RawMessage, error) {
			return nil, &tools.ToolError{Kind: tools.KindFailed, Message: "it is shipped"}
		})
	send := tool("send/mail", "Send a mail.", `{"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}`,
		func() (json.RawMessage, error) { return json.RawMessage(`"sent"`), nil })
	return toolSet(t, list, cancel, send)
}

// Whatever a model is told of a tool has the name that programs write, whichever spelling
// the program has.
func TestOneName(t *testing.T) {
	t.Parallel()
	programs := []string{
		`console.log(my_server, await tools.search("list orders", {server: "my server", declare: true}))`,
		`return await tools.describe(["my server.list-orders", "cancel.order", "my_server[\"send/mail\"]", "my server"])`,
		`await my_server["list-orders"]({limit: "many"})`,
		`await my_server.list_order({})`,
		`await my_server["sendMail"]({})`,
		`try { await my_server["cancel.order"]({id: "A-4"}) } catch (e) { return [e.tool, e.message] }`,
		`const orders = await my_server["list-orders"]({}); await my_server["cancel.order"]({id: "A-4"}, {again: "E1"})`,
		`await my_server["send/mail"]({to: "Mole"}); await my_server["cancel.order"]({id: "A-5"})`,
		`submit({total: 1})`,
	}
	var replies []string
	for _, p := range programs {
		replies = append(replies, "```js\n"+p+"\n```")
	}
	model := llmtest.New(replies...)
	_, err := module.NewCodeAct(adding, model, inProcess(t), oddlyNamed(t), &module.Options{MaxIters: 20}).Run(t.Context(), anything)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range model.Requests()[1:] {
		told := excerpt.ReplaceAllString(r.Last(), "")
		for _, original := range []string{"list-orders", "cancel.order", "send/mail", "my server"} {
			if strings.Contains(told, original) {
				t.Errorf("after %s, the model is told of %s:\n%s", programs[i], original, told)
			}
		}
		if !strings.Contains(told, "my_server.") {
			t.Errorf("after %s, the model is told of no tool:\n%s", programs[i], told)
		}
	}
}

// excerpt is a line of the program that an error shows.
var excerpt = regexp.MustCompile(`(?m)^[0-9]+ \| .*$`)
