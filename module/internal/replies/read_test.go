package replies_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

type judgement struct {
	Mood  string   `json:"mood" jsonschema:"enum=good,enum=bad"`
	Score float64  `json:"score" jsonschema:"minimum=0,maximum=1"`
	Note  *string  `json:"note"`
	Sure  *bool    `json:"sure"`
	Tags  []string `json:"tags,omitempty"`
}

type remark struct {
	Answer string `json:"answer"`
}

type mixed struct {
	Any   any     `json:"any"`
	Code  string  `json:"code,omitempty" jsonschema:"minLength=8"`
	Grade *string `json:"grade" jsonschema:"enum=A,enum=a,enum=B"`
	Count *int    `json:"count"`
	Deep  *struct {
		Name string `json:"name"`
	} `json:"deep"`
}

type preset struct {
	Text string `json:"text"`
	Page int    `json:"page,omitempty" jsonschema:"default=1"`
}

type todo struct {
	Completed bool   `json:"completed"`
	Task      string `json:"task"`
}

type cases struct {
	A string `json:"a"`
	B string `json:"A"`
}

func spec[Out any]() *signature.Spec {
	return signature.Must(signature.New[struct{}, Out]("")).Spec()
}

var specs = map[string]*signature.Spec{
	"judgement": spec[judgement](), "remark": spec[remark](), "mixed": spec[mixed](),
	"preset": spec[preset](), "todo": spec[todo](), "cases": spec[cases](),
}

const end = "\n[[ ## completed ## ]]"

// answer is a reply with one text, as it should be.
func answer(text string) string { return "[[ ## answer ## ]]\n" + text + end }

// Replies, and what they mean, or what the model is told is wrong with them.
var readings = []struct{ name, spec, reply, want, wrong string }{
	// Texts.
	{name: "plain", spec: "remark", reply: answer("Paris"), want: `{"answer":"Paris"}`},
	{name: "several lines", spec: "remark", reply: answer("a\n\nb"), want: `{"answer":"a\n\nb"}`},
	{name: "text like a number", spec: "remark", reply: answer("007"), want: `{"answer":"007"}`},
	{name: "text like a boolean", spec: "remark", reply: answer("true"), want: `{"answer":"true"}`},
	{name: "text like null", spec: "remark", reply: answer("null"), want: `{"answer":"null"}`},
	{name: "text like an object", spec: "remark", reply: answer(`{"a": 1}`), want: `{"answer":"{\"a\": 1}"}`},
	{name: "JSON string", spec: "remark", reply: answer(`"Pa\nris"`), want: `{"answer":"Pa\nris"}`},
	{name: "JSON string, empty", spec: "remark", reply: answer(`""`), want: `{"answer":""}`},
	{name: "two quotations", spec: "remark", reply: answer(`"a" and "b"`), want: `{"answer":"\"a\" and \"b\""}`},
	{name: "bold begins the text", spec: "remark", reply: answer("**bold** text"), want: `{"answer":"**bold** text"}`},
	{name: "underscores", spec: "remark", reply: answer("__init__"), want: `{"answer":"__init__"}`},
	{name: "fenced", spec: "remark", reply: answer("```python\nprint(1)\n```"), want: `{"answer":"print(1)"}`},
	{name: "two fences", spec: "remark", reply: answer("```\na\n```\nor\n```\nb\n```"), want: "{\"answer\":\"```\\na\\n```\\nor\\n```\\nb\\n```\"}"},
	{name: "labels in a text", spec: "remark", reply: answer("Answer: yes\nNote: no"), want: `{"answer":"Answer: yes\nNote: no"}`},
	{name: "marker in mid text", spec: "remark", reply: answer("write [[ ## answer ## ]] first"), want: `{"answer":"write [[ ## answer ## ]] first"}`},
	{name: "think tags in a text", spec: "remark", reply: answer("<think>x</think>"), want: `{"answer":"\u003cthink\u003ex\u003c/think\u003e"}`},
	{name: "nothing", spec: "remark", reply: answer(""), wrong: `the field "answer" has nothing under its marker; if that is meant, write ""`},
	{name: "object around the text", spec: "remark", reply: answer(`{"answer": "Paris"}`), wrong: `the field "answer" is given as an object with the field in it; give only the value, or write the text as a JSON string`},
	{name: "no end, one line", spec: "remark", reply: "[[ ## answer ## ]]\nParis", want: `{"answer":"Paris"}`},
	{name: "no end, fenced", spec: "remark", reply: "[[ ## answer ## ]]\n```\na\nb\n```", want: `{"answer":"a\nb"}`},
	{name: "no end, chatter", spec: "remark", reply: "[[ ## answer ## ]]\nParis\nAnything else?", wrong: `the field "answer" cannot be read: nothing says where the text ends; put the end marker behind it`},
	{name: "no end, in a fence", spec: "remark", reply: "```\n[[ ## answer ## ]]\nParis\n```", want: `{"answer":"Paris"}`},
	{name: "minimal length is not met by quotes", spec: "mixed", reply: "[[ ## any ## ]]\n1\n[[ ## code ## ]]\n\"abcdef\"" + end, wrong: `the field "code" has a value that is not allowed: the value must have at least 8 characters, not 6`},

	// Markers.
	{name: "CRLF and BOM", spec: "remark", reply: "\ufeff[[ ## answer ## ]]\r\na\r\nb\r\n[[ ## completed ## ]]\r\n", want: `{"answer":"a\nb"}`},
	{name: "end behind the text", spec: "remark", reply: "[[ ## answer ## ]] Paris [[ ## completed ## ]]", want: `{"answer":"Paris"}`},
	{name: "end in the text and after", spec: "remark", reply: answer("end with [[ ## completed ## ]]"), want: `{"answer":"end with [[ ## completed ## ]]"}`},
	{name: "prose before and after", spec: "remark", reply: "Sure.\n" + answer("Paris") + "\nBye.", want: `{"answer":"Paris"}`},
	{name: "same twice", spec: "remark", reply: answer("Paris") + "\n" + answer("Paris"), want: `{"answer":"Paris"}`},
	{name: "different twice", spec: "remark", reply: answer("Paris") + "\nNo:\n" + answer("Rome"), wrong: `the field "answer" is given twice, with different values; give it once`},
	{name: "first nothing, then something", spec: "remark", reply: "[[ ## answer ## ]]\n" + answer("Paris"), wrong: `the field "answer" is given twice, with different values; give it once`},
	{name: "end marker in the text", spec: "remark", reply: answer("a" + end + "\nb"), wrong: "[[ ## completed ## ]] stands twice; write a text that contains it as a JSON string"},
	{name: "inputs before", spec: "remark", reply: "[[ ## text ## ]]\nBroke.\n" + answer("Paris"), want: `{"answer":"Paris"}`},
	{name: "inputs of another question after the end", spec: "remark", reply: answer("Paris") + "\n[[ ## text ## ]]\nBroke.", want: `{"answer":"Paris"}`},
	{name: "another marker within", spec: "remark", reply: answer("a\n[[ ## b ## ]]\nc"), wrong: `there is no field "b"; leave the marker out, or write the text that contains it as a JSON string`},
	{name: "only the form", spec: "remark", reply: answer("{answer}"), wrong: "no field was found in the reply; put each value under its marker, such as [[ ## answer ## ]]"},
	{name: "all on one line", spec: "judgement", reply: "[[ ## mood ## ]] good [[ ## score ## ]] 1 [[ ## completed ## ]]", wrong: "the marker [[ ## score ## ]] stands within a line; give each a line of its own"},
	{name: "one within a line", spec: "judgement", reply: "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n1\n[[ ## note ## ]]\na [[ ## sure ## ]] b" + end, wrong: "the marker [[ ## sure ## ]] stands within a line; give each a line of its own"},
	{name: "bold marker", spec: "remark", reply: "**[[ ## Answer ## ]]** Paris" + end, want: `{"answer":"Paris"}`},
	{name: "names that differ by case", spec: "cases", reply: "[[ ## a ## ]]\nx\n[[ ## A ## ]]\ny" + end, want: `{"a":"x","A":"y"}`},
	{name: "one of the names that differ by case", spec: "cases", reply: "[[ ## a ## ]]\nx" + end, wrong: `the field "A" is missing`},
	{name: "a field called completed", spec: "todo", reply: "[[ ## completed ## ]]\ntrue\n[[ ## task ## ]]\ndig\n\nmore\n[[ ## completed_ ## ]]", want: `{"completed":true,"task":"dig\n\nmore"}`},
	{name: "end marker in the fence", spec: "remark", reply: "[[ ## answer ## ]]\n```\na\nb\n[[ ## completed ## ]]\n```", want: `{"answer":"a\nb"}`},

	// Values of other types.
	{name: "optional fields left out", spec: "judgement", reply: "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n1" + end, want: `{"mood":"good","score":1}`},
	{name: "optional fields empty", spec: "judgement", reply: "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n1\n[[ ## note ## ]]\n\n[[ ## sure ## ]]" + end, want: `{"mood":"good","score":1}`},
	{name: "null for a text that may be null", spec: "judgement", reply: "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n1\n[[ ## note ## ]]\nnull\n[[ ## sure ## ]]\nNone" + end, want: `{"mood":"good","score":1,"note":null,"sure":null}`},
	{name: "spellings", spec: "judgement", reply: "[[ ## mood ## ]]\n\"GOOD\"\n[[ ## score ## ]]\n**0.5**.\n[[ ## sure ## ]]\nNo" + end, want: `{"mood":"good","score":0.5,"sure":false}`},
	{name: "a point is no decoration", spec: "judgement", reply: "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n.5" + end, want: `{"mood":"good","score":0.5}`},
	{name: "percent", spec: "judgement", reply: "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n50%" + end, want: `{"mood":"good","score":0.5}`},
	{name: "thousands", spec: "mixed", reply: "[[ ## any ## ]]\n1\n[[ ## count ## ]]\n1,000" + end, want: `{"any":1,"count":1000}`},
	{name: "number with a reason", spec: "judgement", reply: "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n0.5 (unsure)" + end, wrong: `the field "score" cannot be read: the value must be a number, not "0.5 (unsure)"`},
	{name: "nearly a constant", spec: "judgement", reply: "[[ ## mood ## ]]\ngood or bad\n[[ ## score ## ]]\n1" + end, wrong: `the field "mood" has a value that is not allowed: the value must be one of "good", "bad", not "good or bad"`},
	{name: "constants that differ by case", spec: "mixed", reply: "[[ ## any ## ]]\n1\n[[ ## grade ## ]]\n'a'\n[[ ## count ## ]]\n3" + end, want: `{"any":1,"grade":"a","count":3}`},
	{name: "anything, as JSON", spec: "mixed", reply: "[[ ## any ## ]]\n{\"a\": [1]}" + end, want: `{"any":{"a":[1]}}`},
	{name: "anything, as text", spec: "mixed", reply: "[[ ## any ## ]]\nsome words" + end, want: `{"any":"some words"}`},
	{name: "names in another case are not bent", spec: "mixed", reply: "[[ ## any ## ]]\n1\n[[ ## deep ## ]]\n{\"Name\": \"Mole\"}" + end, want: `{"any":1,"deep":{"name":"Mole"}}`},
	{name: "malformed JSON", spec: "mixed", reply: "[[ ## any ## ]]\n1\n[[ ## deep ## ]]\n{\"name\": 'Mole'}" + end, want: `{"any":1,"deep":{"name":"Mole"}}`},
	{name: "two wrong", spec: "judgement", reply: "[[ ## mood ## ]]\nfine" + end, wrong: "the field \"mood\" has a value that is not allowed: the value must be one of \"good\", \"bad\", not \"fine\"\nthe field \"score\" is missing"},

	// JSON.
	{name: "bare object", spec: "judgement", reply: `{"mood": "good", "score": 1}`, want: `{"mood":"good","score":1}`},
	{name: "object with other names", spec: "judgement", reply: `{"Mood": "Good", "SCORE": "1"}`, want: `{"mood":"good","score":1}`},
	{name: "null for an optional field with a default", spec: "preset", reply: `{"text": "a", "page": null}`, wrong: `the field "page" is said to have no value, but has the default 1 if it is left out; give a value`},
	{name: "an optional field with a default, left out", spec: "preset", reply: `{"text": "a"}`, want: `{"text":"a"}`},
	{name: "null for an optional field", spec: "judgement", reply: `{"mood": "good", "score": 1, "tags": null}`, want: `{"mood":"good","score":1}`},
	{name: "the form in an object", spec: "remark", reply: `{"answer": "{answer}"}`, wrong: `the field "answer" has a placeholder, or stands for more than it says; write all of the value. A text that is meant so can have its first letter as an escape, such as \u0054 for T`},
	{name: "the same object twice", spec: "remark", reply: `{"answer": "a"} that is {"answer":"a"}`, want: `{"answer":"a"}`},
	{name: "an example and the answer", spec: "remark", reply: `{"answer": "a"} or {"answer": "b"}`, wrong: "the reply has several objects with the fields; give one"},
	{name: "an example in a cut-off object", spec: "judgement", reply: `{"examples": [{"mood": "good", "score": 1}], "mood": "bad", "score": 0.`, wrong: `the JSON object in the reply cannot be read: it ends in the midst of a value`},
	{name: "an object and labels", spec: "judgement", reply: "Such as {\"mood\": \"good\", \"score\": 1}. Mine:\nMood: bad\nScore: 0", wrong: `the field "mood" is given twice, with different values; give it once`},
	{name: "an object of something else", spec: "judgement", reply: `I saw {"orders": 3}.`, wrong: "no field was found in the reply; put each value under its marker, such as [[ ## mood ## ]]"},
	{name: "keys twice", spec: "remark", reply: `{"answer": "a", "answer": "b"}`, wrong: `the JSON object in the reply cannot be read: the value of "answer" is given twice`},
	{name: "keys twice in two cases", spec: "remark", reply: `{"answer": "a", "Answer": "b"}`, wrong: `the field "answer" is given twice; give it once`},
	{name: "extra keys", spec: "remark", reply: `{"answer": "a", "why": "b"}`, want: `{"answer":"a"}`},
	{name: "an extra key that qualifies", spec: "remark", reply: `{"answer": "a", "why": "Or rather c."}`, wrong: `the field "why" is no field of the answer, and may change what it says; leave it out`},
	{name: "an extra key of nearly the same name", spec: "remark", reply: `{"answer": "a", "answers": "b"}`, wrong: `the field "answers" is no field of the answer, and may change what it says; leave it out`},
	{name: "not one field but optional ones", spec: "judgement", reply: `{"note": "x"}`, wrong: "the field \"mood\" is missing\nthe field \"score\" is missing"},

	// Labels.
	{name: "labels", spec: "judgement", reply: "Mood: good\n\n`score`: 0.5\n**Note:** as __is__: yes", want: `{"mood":"good","score":0.5,"note":"as __is__: yes"}`},
	{name: "a label and more", spec: "remark", reply: "Answer: Paris\nor so", wrong: `the field "answer" cannot be read: nothing says where the text ends; put the end marker behind it`},
	{name: "label twice", spec: "remark", reply: "Answer: a\nAnswer: b", wrong: `the field "answer" is given twice, with different values; give it once`},

	// Thoughts.
	{name: "draft in the thoughts", spec: "remark", reply: "<think>\n" + answer("Rome") + "\n</think>\n" + answer("Paris"), want: `{"answer":"Paris"}`},
	{name: "thoughts whose beginning is missing", spec: "remark", reply: "Maybe\n" + answer("Rome") + "\n</think>\n\n" + answer("Paris"), want: `{"answer":"Paris"}`},
	{name: "thoughts after prose, twice", spec: "remark", reply: "Hm.\n<think>a</think>\n<thinking>" + answer("b") + "</thinking>\n" + answer("Paris"), want: `{"answer":"Paris"}`},
	{name: "thoughts without end", spec: "remark", reply: "<think>\n" + answer("Rome"), wrong: "the reply ends before its thoughts do; close them and answer"},

	{name: "empty", spec: "remark", reply: " \n", wrong: "the reply is empty"},
	{name: "prose", spec: "remark", reply: "It is Paris.", wrong: "no field was found in the reply; put each value under its marker, such as [[ ## answer ## ]]"},
}

func TestReadReply(t *testing.T) {
	t.Parallel()
	for _, c := range readings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, wrong := readAs(specs[c.spec], c.reply)
			if got != c.want || wrong != c.wrong {
				t.Errorf("got  %s %s\nwant %s %s", got, wrong, c.want, c.wrong)
			}
		})
	}
}

// readAs is what Predict makes of a reply.
func readAs(spec *signature.Spec, reply string) (object, wrong string) {
	values, err := module.Markers().Read(spec, reply, false)
	if err != nil {
		return "", err.Error()
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return "", err.Error()
	}
	if findings := spec.Validate(raw); findings != nil {
		return "", (&signature.InvalidError{Findings: findings}).Error()
	}
	return string(raw), ""
}

func TestReadTruncated(t *testing.T) {
	t.Parallel()
	const cutOff = "the reply was cut off at the model's limit of tokens; write less"
	whole := "[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n0.12"
	for reply, want := range map[string]string{
		whole:                             cutOff,
		`{"mood": "good", "score": 0.12}`: "", // nothing of it can be missing
		whole + end:                       "",
		whole + end + "\nI hope":          "",
		whole + end + "\n" + whole:        cutOff,
		"<think>" + whole + end:           "the reply ends before its thoughts do; close them and answer",
	} {
		wrong := ""
		if _, err := module.Markers().Read(specs["judgement"], reply, true); err != nil {
			wrong = err.Error()
		}
		if wrong != want {
			t.Errorf("%q: %v, want %v", reply, wrong, want)
		}
	}
}

// TestNullIsNoText holds that null never becomes an empty text.
func TestNullIsNoText(t *testing.T) {
	t.Parallel()
	spec := kinds["string"]
	for _, reply := range []string{"null", " null\n", "```\nnull\n```", "```json\nnull\n```", "```text\nnone\n```", `{"answer": null}`} {
		for _, a := range adapters {
			if values, err := a.Read(spec, reply, false); err == nil {
				t.Errorf("%s read %q as %v", a.name, reply, values)
			}
		}
	}
}

// FuzzReadText holds the rule that a wrong answer is worse than none: a text is
// read as it was written, or not at all.
func FuzzReadText(f *testing.F) {
	for _, c := range readings {
		f.Add(c.reply)
	}
	f.Add("```\n```\n```")
	f.Add(`"a\"`)
	f.Add("\ufeff0")
	f.Add("**0**")
	f.Add(" 0 1\n 0")
	f.Add("0000\rA")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		exact, wrong := readAs(specs["remark"], answer(string(replies.Escaped(replies.Quote(text)))))
		var written remark
		if err := json.Unmarshal([]byte(exact), &written); err != nil || written.Answer != text {
			t.Fatalf("JSON string: got %s %s, want %q", exact, wrong, text)
		}
		got, _ := readAs(specs["remark"], answer(text))
		if got == "" || replies.ThinkEnd.MatchString(text) {
			return // what stands before </think> is taken for thoughts, markers or not
		}
		var out remark
		if err := json.Unmarshal([]byte(got), &out); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(meanings(text), out.Answer) {
			t.Fatalf("%q was read as %q", text, out.Answer)
		}
	})
}

// meanings are the readings of a text that the prompt allows for: as it is, out
// of its fence, the quotes of code or bold print, without the indentation of all its
// lines or what cannot be seen at its ends, or decoded.
func meanings(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	level := strings.TrimSpace(replies.Dedent(text))
	text = strings.TrimSpace(text)
	bare := strings.TrimSpace(replies.Unfence(text))
	bare = strings.TrimFunc(bare, replies.IsInvisible)
	all := []string{text, bare, level}
	for _, mark := range []string{"`", "'", "**"} {
		if inner, ok := replies.Within(bare, mark); ok {
			all = append(all, inner)
		}
	}
	var decoded string
	if json.Unmarshal([]byte(bare), &decoded) == nil {
		all = append(all, decoded)
	}
	return all
}

// FuzzReadReply feeds anything to every reader: no panic, and what is found are
// outputs.
func FuzzReadReply(f *testing.F) {
	for _, c := range readings {
		f.Add(c.spec, c.reply)
	}
	f.Fuzz(func(t *testing.T, name, reply string) {
		spec := specs[name]
		if spec == nil {
			return
		}
		for _, truncated := range []bool{false, true} {
			values, err := module.Markers().Read(spec, reply, truncated)
			if err == nil && len(values) == 0 {
				t.Fatal("neither values nor an error")
			}
			if _, err := json.Marshal(values); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What no model says at once is not looked through, unless it is exactly what was asked
// for.
func TestTooLong(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("word ", 1<<18)
	spec := kinds["string"]
	if _, err := replies.Read(spec, "Here: "+text, false, replies.Markers); err == nil || err.Error() != "the reply is longer than 1048576 bytes; write less" {
		t.Errorf("got %v", err)
	}
	if _, err := replies.ReadProgram(text, false, replies.Markers); err == nil || err.Error() != "the reply is longer than 1048576 bytes; write less" {
		t.Errorf("got %v", err)
	}
	values, err := replies.Read(spec, "[[ ## answer ## ]]\n"+text+"\n\n[[ ## completed ## ]]", false, replies.Markers)
	if err != nil || len(values) != 1 || len(values[0].JSON) < len(text) {
		t.Errorf("got %d values, %v", len(values), err)
	}
}
