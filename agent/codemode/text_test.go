package codemode

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestText compares what models read whose clients ignore structured content.
func TestText(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}})
	for _, test := range []struct{ code, want string }{
		{`"<b> & é"`, `<b> & é`},
		{`""`, `""`},
		{`({total: 7, rows: [1, 2]})`, `{"total":7,"rows":[1,2]}`},
		{`console.log("one\ntwo"); console.error("three"); null`,
			"The program has no value.\n\nconsole:\none\ntwo\n\nconsole errors:\nthree"},
		{`let x = ;`, "failed: SYNTAX\n\nline 1, column 9: unexpected ; in expression\n" +
			"1 | let x = ;\n  |         ^"},
		{`await fs.write_file({path: "c.txt", content: "1"}); throw new Error("no")`,
			"failed: THROWN\n\nline 1, column 59: Error: no\n" +
				"1 | await fs.write_file({path: \"c.txt\", content: \"1\"}); throw new Error(\"no\")\n" +
				"  |                                                           ^\n\n" +
				`tool calls:` + "\n" + `- fs.write_file({"path":"c.txt","content":"1"}): ok`},
	} {
		result, err := session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": test.code}})
		if err != nil {
			t.Fatal(err)
		}
		if text := result.Content[0].(*mcp.TextContent).Text; text != test.want || len(result.Content) > 1 {
			t.Errorf("%s\ngot  %q\nwant %q", test.code, text, test.want)
		}
	}
	begun := executeCode(t, session, map[string]any{"code": "1", "session": "new"})
	if text := begun.content()[0].(*mcp.TextContent).Text; !strings.HasSuffix(text, "\n\nsession: "+begun.Session) {
		t.Errorf("the text lacks the session:\n%s", text)
	}
}
