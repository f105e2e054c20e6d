package codemode

import (
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestText compares what models read whose clients ignore structured content.
// runID matches the ID of a run.
var runID = regexp.MustCompile(`r-[a-z2-7]{8}`)

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
				`tool calls:` + "\n" + `- fs.write_file({"path":"c.txt","content":"1"}): ok` + "\n\n" +
				`To try again, write the whole program again and pass retry_of: "r-…". Calls that are done are not made ` +
				`again: their recorded results are returned.`},
	} {
		result, err := session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": test.code}})
		if err != nil {
			t.Fatal(err)
		}
		text := runID.ReplaceAllString(result.Content[0].(*mcp.TextContent).Text, "r-…")
		if text != test.want || len(result.Content) > 1 {
			t.Errorf("%s\ngot  %q\nwant %q", test.code, text, test.want)
		}
	}
	begun := executeCode(t, session, map[string]any{"code": "1", "session": "new"})
	if text := begun.content()[0].(*mcp.TextContent).Text; !strings.HasSuffix(text, "\n\nsession: "+begun.Session) {
		t.Errorf("the text lacks the session:\n%s", text)
	}
}
