package replies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// special are texts that the readers know as something else: no value, one that is to come,
// a refusal, a choice, a remark, decoration.
var special = []string{
	"none", "None", "unknown", "Unknown", "N/A", "n/a", "null", "nil", "-", "—", "~", "undefined", "na",
	"not applicable", "not found", "not given", "not specified", "not provided", "none known", "unbekannt", "(none)", "(left out)", "non précisé", "(unknown)",
	"todo", "TODO", "tbd", "TBD", "string", "fixme", "item1", "tag 1", "label1", "option A", "Author 1", "...", "…", "etc", "and 3 more", "等", "その他",
	"{v}", "<v>", "[v]", "[Your name]", "[City Name]", "your answer here", "<answer>", "string or null", "string | null", "(see above)", "lorem ipsum dolor sit amet", "// your code here", "[not provided]",
	"I cannot help with that.", "I'm sorry, I can't.", "Please provide the text.", "Sorry, I do not know.", `"A" or "B"`, "`a` or `b`", "**a** or **b**", "either a or b", "Ann (or was it Anna?)",
	"V: x", "v: x", "Title: x", "**Title:** x", "Answer: x", "**x**", "*x*", "_x_", "`x`", "'x'", `"x"`, "# x", "[x](x)", "x\n\nThis v captures both.", "wait\nno, wait", "a\nActually, no", "<b>x</b>", "<v>x</v>", "a &amp; b", "```\nx\n```",
	"true", "false", "yes", "no", "1", "1,000", "42%", "a, b", "a and b", "<think>x</think>", "[[ ## v ## ]]", "[[ ## completed ## ]]", `{"v":"x"}`, `["x"]`, replies.NotGiven, "{}", "[]", "", " x ", "\\", "\\times", "\t", "a\\u0041", "\n",
}

// kinds of values that hold a text, by their type. Those with %s are of one that is listed.
var holders = []struct{ kind, value string }{
	{`str`, `%s`}, {`str | None`, `%s`}, {`Any`, `%s`},
	{`list[str]`, `[%s]`}, {`list[str]`, `["late","",%s]`}, {`list[str]`, `[%[1]s,%[1]s]`},
	{`dict[str, str]`, `{"a":%s}`}, {`dict[str, Any]`, `{"a":{"b":[%s]}}`},
	{`{w: str}`, `{"w":%s}`}, {`{w?: str}`, `{"w":%s}`}, {`{w: str | None}`, `{"w":%s}`},
	{`list[{w: str, x: list[str]}]`, `[{"w":%[1]s,"x":["y",%[1]s]}]`},
	{`%s`, `%s`}, {`Optional[%s]`, `%s`}, {`list[%s]`, `[%s]`}, {`Optional[list[%s]]`, `[%[1]s,%[1]s]`},
	{`dict[str, %s]`, `{"a":%s}`}, {`{w: %s}`, `{"w":%s}`}, {`{w?: %s}`, `{"w":%s}`}, {`{w: Optional[%s]}`, `{"w":%s}`},
	{`list[{w: %[1]s, y?: %[1]s}]`, `[{"w":%[1]s,"y":%[1]s}]`},
}

// TestRoundTrip holds that what an adapter writes is read back, whatever the value.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	questions := map[string]*signature.Spec{}
	for i, text := range special {
		quoted := string(replies.Quote(text))
		for _, h := range holders {
			name := []string{"v", "v?", "title", "city?", "tags", "note?", "code"}[i%7]
			if strings.ContainsRune(h.kind, '%') {
				h.kind = fmt.Sprintf(strings.ReplaceAll(h.kind, "%s", "%[1]s"), "Literal["+quoted+", 'late']")
			}
			for _, field := range []string{name, "v", "v?", "title"} {
				question := "text -> " + field + ": " + h.kind
				if questions[question] == nil {
					questions[question] = parsed(question)
				}
				roundTrip(t, questions[question], fmt.Sprintf(strings.ReplaceAll(h.value, "%s", "%[1]s"), quoted))
			}
		}
	}
}

func roundTrip(t *testing.T, spec *signature.Spec, value string) {
	name := spec.Outputs()[0].Name
	if err := decode(spec, json.RawMessage(`{"`+name+`":`+value+`}`)); err != nil {
		t.Errorf("%s: %s: %v", spec, value, err)
	}
	want := signature.Values{{Name: name, JSON: json.RawMessage(value)}}
	for _, a := range adapters {
		reply := a.Answer(spec, want)
		if got, err := a.Read(spec, reply, false); err != nil || !replies.EqualValues(got, want) {
			t.Errorf("%s, %s: %s was written as\n%s\nand read as %s, %v", a.name, spec, value, reply, replies.Encode(got), err)
		}
	}
}

// TestListed holds that a word which the schema lists is that value in every form of reply,
// whatever it says else.
func TestListed(t *testing.T) {
	t.Parallel()
	words := []string{"unknown", "none", "None", "N/A", "n/a", "null", "nil", "-", "undefined", "not applicable", "not found", "not given", "not specified",
		"todo", "TODO", "tbd", "TBD", "string", "fixme", "item1", "option A"}
	for _, word := range words {
		literal := "Literal['" + word + "', 'open', 'low', 'done']"
		scalar, list := `"`+word+`"`, `["`+word+`","open"]`
		for _, c := range []struct{ fields, reply, want string }{
			{"state: %s", `{"state":%q}`, scalar},
			{"state: %s", "```json\n{\"state\": %q, \"why\": \"It says so.\"}\n```", scalar},
			{"state: %s", "Here it is: {\"state\": %q}", scalar},
			{"state: %s", "[[ ## state ## ]]\n%s\n\n[[ ## completed ## ]]", scalar},
			{"state: %s", "[[ ## state ## ]]\n%q\n\n[[ ## completed ## ]]", scalar},
			{"state: %s", "[[ ## state ## ]]\n**%s**\n\n[[ ## completed ## ]]", scalar},
			{"state: %s", "[[ ## state ## ]]\n%s", scalar},
			{"state: %s", "<state>%s</state>", scalar},
			{"state: %s, n: int", "state: %s\nn: 3", scalar},
			{"state: %s, n: int", "| state | n |\n|---|---|\n| %s | 3 |", scalar},
			{"state: list[%s]", `{"state":[%q,"open"]}`, list},
			{"state: list[%s]", "[[ ## state ## ]]\n[%q,\"open\"]\n\n[[ ## completed ## ]]", list},
			{"state: list[%s]", "[[ ## state ## ]]\n- %s\n- open\n\n[[ ## completed ## ]]", list},
			{"state: list[%s]", "[[ ## state ## ]]\n[%q]\n\n[[ ## completed ## ]]", "[" + scalar + "]"},
			{"state: list[%s]", `{"state":[%q]}`, "[" + scalar + "]"},
			{"state: {w: %s}", `{"state":{"w":%q}}`, `{"w":` + scalar + `}`},
			{"state: {w?: %s}", `{"state":{"w":%q}}`, `{"w":` + scalar + `}`},
			{"state: {w?: %s}", "[[ ## state ## ]]\nw: %s\n\n[[ ## completed ## ]]", `{"w":` + scalar + `}`},
			{"state: dict[str, %s]", `{"state":{"w":%q}}`, `{"w":` + scalar + `}`},
		} {
			for _, kind := range []string{"%s", "?", "Optional[%s]"} {
				if word == "null" && kind == "Optional[%s]" && !strings.Contains(c.reply, "%q") || word == "-" && strings.HasPrefix(c.reply, "state:") {
					continue // as JSON, it is none, and a line without a value
				}
				name, of, _ := strings.Cut(fmt.Sprintf(c.fields, literal), ": ")
				of, more, _ := strings.Cut(of, ", n:")
				if more != "" {
					more = ", n:" + more
				}
				if kind == "?" {
					name += "?"
				} else {
					of = fmt.Sprintf(kind, of)
				}
				spec := parsed("a -> " + name + ": " + of + more)
				for _, a := range adapters {
					reply := fmt.Sprintf(c.reply, word)
					values, err := a.Read(spec, reply, false)
					if got, _ := values.Get("state"); err != nil || string(got) != c.want {
						t.Errorf("%s, %s: %q was read as %s, %v", a.name, spec, reply, got, err)
					}
				}
			}
		}
	}
}

// TestListedDefault holds the same for a field of which one of the words is the default.
func TestListedDefault(t *testing.T) {
	t.Parallel()
	spec := about[struct {
		Severity string  `json:"severity" jsonschema:"enum=none,enum=low,default=low"`
		Status   *string `json:"status" jsonschema:"enum=unknown,enum=open"`
	}]()
	for _, reply := range []string{`{"severity":"none","status":"unknown"}`, "[[ ## severity ## ]]\nnone\n[[ ## status ## ]]\nunknown\n[[ ## completed ## ]]"} {
		for _, a := range adapters {
			values, err := a.Read(spec, reply, false)
			if want := `{"severity":"none","status":"unknown"}`; err != nil || values.String() != want {
				t.Errorf("%s: %q was read as %s, %v", a.name, reply, values, err)
			}
		}
	}
}

// TestWords holds that words such as todo are what they say in an object that has other
// texts, and wherever anything may stand.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fields, reply, want string }{
		{"tags: list[str]", `{"tags":["bug","todo"]}`, `["bug","todo"]`},
		{"cols: list[{name: str, type: str}]", `{"cols":[{"name":"mail","type":"string"}]}`, `[{"name":"mail","type":"string"}]`},
		{"cols: list[{name: str, type: str}]", "[[ ## cols ## ]]\n[{\"name\":\"mail\",\"type\":\"string\"}]\n\n[[ ## completed ## ]]", `[{"name":"mail","type":"string"}]`},
		{"task: {title: str, state: str}", `{"task":{"title":"Call Ann","state":"todo"}}`, `{"title":"Call Ann","state":"todo"}`},
		{"args: dict[str, Any]", "[[ ## args ## ]]\n{\"state\":\"todo\"}\n\n[[ ## completed ## ]]", `{"state":"todo"}`},
		{"tags: list[str]", `{"tags":["\u0074odo"]}`, `["todo"]`},
		{"state: str", `{"state":"\u0074odo"}`, `"todo"`},
		{"cup: {n: int, s: str}", `{"cup":{"n":3.0,"s":"\u0074odo"}}`, `{"n":3,"s":"todo"}`},
		{"state: str", `{"state":"todo"}`, ""},
		{"state: str, note: str", `{"state":"todo","note":"It is open."}`, `"todo"`},
		{"state: str, note: str", `{"state":"string","note":"It is open."}`, ""},
		{"state: str, reasoning: str", `{"state":"todo","reasoning":"Let me see."}`, ""},
		{"tags: list[str], kind: Literal['a', 'b']", `{"tags":["tag1","tag2"],"kind":"a"}`, ""},
		{"tags: list[str]", `{"tags":["tag1","tag2"]}`, ""},
		{"tags: list[str]", `{"tags":["bug","..."]}`, ""},
		{"cols: list[{name: str, type: str}]", `{"cols":[{"name":"string","type":"string"}]}`, ""},
		{"state: str, note: str", `{"state":"<state>","note":"It is open."}`, ""},
	} {
		reads(t, c.fields, c.reply, c.want)
	}
}

// TestSigns holds that thousands are no items, and what signs in tags are.
func TestSigns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fields, reply, want string }{
		{"sums: list[str]", "[[ ## sums ## ]]\n1,000, 2,000\n\n[[ ## completed ## ]]", ""},
		{"sums: list[str]", "[[ ## sums ## ]]\n1,000,2,000\n\n[[ ## completed ## ]]", ""},
		{"sums: list[str]", "[[ ## sums ## ]]\n1000, 2000, 30\n\n[[ ## completed ## ]]", `["1000","2000","30"]`},
		{"summary: str", "<summary>Order broken &amp; late.</summary>", `"Order broken \u0026 late."`},
		{"summary: str", "<summary>It&#39;s &lt;b&gt;.</summary>", `"It's \u003cb\u003e."`},
		{"summary: str", "<summary>Write &copy; and a&nbsp;b.</summary>", `"Write \u0026copy; and a\u0026nbsp;b."`},
		{"summary: str", "<summary><![CDATA[a &amp; b]]></summary>", `"a \u0026amp; b"`},
		{"summary: str", "<summary>a & b &amp; c</summary>", ""},
		{"summary: str", "<summary>a & b</summary>", `"a \u0026 b"`},
		{"who: {name: str, city: str}", "<who><name>A &amp; B</name><city>C</city></who>", `{"name":"A \u0026 B","city":"C"}`},
	} {
		reads(t, c.fields, c.reply, c.want)
	}
}

// reads holds what is read of a reply for the first of some fields: nothing, if it is asked
// again.
func reads(t *testing.T, fields, reply, want string) {
	spec := parsed("a -> " + fields)
	for _, a := range adapters {
		values, err := a.Read(spec, reply, false)
		got := ""
		if err == nil {
			got = string(values[0].JSON)
		}
		if got != want {
			t.Errorf("%s, %s: %q was read as %s, %v", a.name, spec, reply, got, err)
		}
	}
}
