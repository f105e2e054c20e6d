package replies_test

import (
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

const judged = "mood: Literal['good', 'bad'], score: float(ge=0, le=1), note?: str"

// TestRead checks what is read from replies, and the feedback on replies that cannot be used.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fields, reply, want string }{
		{"answer: str", "[[ ## answer ## ]]\nParis" + end, `{"answer":"Paris"}`},
		{"answer: str", "[[ ## answer ## ]]\nWait, actually: urgent. Correction: anything lower would be wrong." + end,
			`{"answer":"Wait, actually: urgent. Correction: anything lower would be wrong."}`},
		{"answer: str", "[[ ## answer ## ]]\nParis\n[[ ## /answer ## ]]" + end, `{"answer":"Paris"}`},
		{"answer: str", "[[ ## answer ## ]]\n{answer}" + end, `the field "answer" is missing`},
		{"answer: str", "[[ ## answer ## ]]\n{answer}" + end + "\n\n[[ ## answer ## ]]\nParis" + end, `{"answer":"Paris"}`},
		{"answer: str", "[[ ## answer ## ]]\nParis" + end + "\n\n[[ ## answer ## ]]\nRome" + end,
			`the field "answer" is given twice, with different values; give it once`},
		{"answer: str", "[[ ## answer ## ]]\nParis" + end + "\n\n{\"answer\": \"Rome\"}",
			`the field "answer" is given twice, with different values; give it once`},
		{"answer: str", "[[ ## answer ## ]]\nParis\n\n[[ ## sure ## ]]\nyes" + end,
			`there is no field "sure"; leave the marker out, or write the text that contains it as a JSON string`},
		{"answer: str", "[[ ## answer ## ]]\nParis.\n\nIt is",
			"the end of the text is not marked; put the end marker after it"},
		{"answer: str", "[[ ## answer ## ]] Paris [[ ## completed ## ]]", `{"answer":"Paris"}`},
		{"answer: str", "[[ ## answer ## ]]\nIt is [[ ## completed ## ]] there." + end,
			`{"answer":"It is [[ ## completed ## ]] there."}`},
		{"answer: str, note?: str", "[[ ## answer ## ]] Paris [[ ## note ## ]] sure" + end,
			`the field "note" has its marker within a line; put it on a line of its own`},
		{"answer: str", "[[ ## answer ## ]]\n```\na\n```" + end, `{"answer":"a"}`},
		{"answer: str", "Paris", `{"answer":"Paris"}`},
		{"answer: str", "Here it is.\n\nParis",
			"no field was found in the reply; put each value under its marker, such as [[ ## answer ## ]]"},
		{"answer: str", "Answer: Paris", `{"answer":"Paris"}`},
		{"answer: str", `{"answer": 42}`, `{"answer":"42"}`},
		{"answer: str", `{"answer": true}`, `{"answer":"true"}`},
		{"answer: str", `{"answer": null}`, `the field "answer" cannot be read: the value must be a string, not null`},
		{"answer: str", `{"answer": ["Paris"]}`,
			`the field "answer" cannot be read: the value must be a string, not an array`},
		{"answer: str, n: int", `{"answer": 42, "n": 1}`,
			`the field "answer" cannot be read: the value must be a string, not 42`},
		{"answer: str", `{"answer": "Oslo"} or {"answer": "Bergen"}`,
			`the field "answer" is given twice, with different values; give it once`},
		{"answer: str", `{"answer": "Oslo`, "the JSON object in the reply cannot be read: it ends in the middle of a value"},
		{"answer: str", "<think>\n[[ ## answer ## ]]\nRome\n</think>\n[[ ## answer ## ]]\nParis" + end, `{"answer":"Paris"}`},
		{"answer: str", "[[ ## answer ## ]]\nRome\n</think>\n[[ ## answer ## ]]\nParis" + end, `{"answer":"Paris"}`},
		{"answer: str", "[[ ## answer ## ]]\nIt ends with\n</think>\nalone." + end,
			`{"answer":"It ends with\n\u003c/think\u003e\nalone."}`},
		{"answer: str", "<think>Rome", "the reply ends inside its thoughts; close them and answer"},
		{"answer: str", "<|channel|>analysis<|message|>Rome?<|channel|>final<|message|>Paris<|eot_id|>",
			`{"answer":"Paris"}`},
		{"n: int", "42.", `{"n":42}`},
		{"n: int", "[[ ## n ## ]]\n**42**" + end, `{"n":42}`},
		{"n: int", `{"n": "42"}`, `{"n":42}`},
		{"n: int", `{"n": 42.0}`, `{"n":42}`},
		{"n: int", `{"n": 9007199254740993}`, `{"n":9007199254740993}`},
		{"n: float", `{"n": 1e999}`, `the field "n" has a number that is too large`},
		{"n: int", "[[ ## n ## ]]\n41 or 42" + end,
			`the field "n" cannot be read: the value must be an integer, not "41 or 42"`},
		{judged, "Mood: Good\n**Score:** 0.9\n\nThe lid broke.", `{"mood":"good","score":0.9}`},
		{judged, "{mood: 'bad', score: .5, // low\n}", `{"mood":"bad","score":0.5}`},
		{judged, "```json\n{\"mood\": \"bad\", \"score\": 0.5, \"note\": null}\n```", `{"mood":"bad","score":0.5}`},
		{judged, `{"result": {"Mood": "bad", "score": 0.5}}`, `{"mood":"bad","score":0.5}`},
		{judged, "[[ ## mood ## ]]\nawful\n[[ ## score ## ]]\nhigh" + end,
			"the field \"mood\" has a value that is not allowed: the value must be one of \"good\", \"bad\", not \"awful\"\n" +
				"the field \"score\" cannot be read: the value must be a number, not \"high\""},
		{"tags: list[str]", "[[ ## tags ## ]]\n- a\n- b" + end, `{"tags":["a","b"]}`},
		{"tags: list[str]", `{"tags": ["a", "b", // ...` + "\n]}",
			"the JSON object in the reply cannot be read: it is abbreviated; write it in full"},
		{"tags: list[str]", `{"tags": ["a"], "tags": ["b"]}`,
			`the JSON object in the reply cannot be read: the value of "tags" is given twice`},
	} {
		form := replies.Markers
		values, err := replies.Read(parsed(t, "text -> "+c.fields), c.reply, false, form)
		got := string(object(values...))
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.reply, got, c.want)
		}
	}
}

// TestReadTruncated checks that no part of a reply that was cut off anywhere is accepted as an
// answer.
func TestReadTruncated(t *testing.T) {
	t.Parallel()
	spec := parsed(t, "text -> "+judged)
	for _, reply := range []string{
		"[[ ## mood ## ]]\ngood\n\n[[ ## score ## ]]\n0.95\n\n[[ ## note ## ]]\nIt broke.\n\n[[ ## completed ## ]]",
		"```json\n{\"mood\": \"good\", \"score\": 0.95, \"note\": \"It broke.\"}\n```",
		"Mood: good\nScore: 0.95\nNote: It broke.",
	} {
		for n := range len(reply) {
			if values, err := replies.Read(spec, reply[:n], true, replies.Object); err == nil && len(values) != 3 {
				t.Errorf("%q was read as %s", reply[:n], values)
			}
		}
	}
}

// TestDurations checks that a duration may have a unit.
func TestDurations(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[struct{}, struct {
		Pause time.Duration   `json:"pause"`
		Steps []time.Duration `json:"steps"`
	}]("")).Spec()
	values, err := replies.Read(spec, `{"pause": "1h30m", "steps": ["2s", 5]}`, false, replies.Object)
	if want := `{"pause":5400000000000,"steps":[2000000000,5]}`; err != nil || string(object(values...)) != want {
		t.Errorf("got %s, %v", values, err)
	}
}

// TestAnswer checks which submitted values are accepted as an answer, and the feedback on the
// others.
func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields, value, want string
		misshapen           bool
		call                string
	}{
		{"total: int", `12`, `{"total":12}`, false, "submit({total: 1})"},
		{"total: str", `3860.03`, `{"total":"3860.03"}`, false, `submit({total: "…"})`},
		{"total: str", `{"total": 3860.03}`, `{"total":"3860.03"}`, false, `submit({total: "…"})`},
		{"total: str", `{"total": [1]}`, `{"total": [1]}`, true, `submit({total: "…"})`},
		{"names: list[str]", `["a"]`, `{"names":["a"]}`, false, `submit({names: ["…"]})`},
		{"total: int, names: list[str]", `{"sum": 12}`, `{"sum": 12}`, true, `submit({total: 1, names: ["…"]})`},
		{"total: int(ge=5), names: list[str]", `{"total": 1, "names": []}`, `{"total": 1, "names": []}`, false,
			`submit({total: 5, names: ["…"]})`},
		{"at: date, who: {name: str, ok: bool}", `{}`, `{}`, true,
			`submit({at: "2026-01-31", who: {name: "…", ok: true}})`},
	} {
		spec := parsed(t, "text -> "+c.fields)
		got := replies.Answer(spec, []byte(c.value))
		if string(got) != c.want || replies.Misshapen(spec, got) != c.misshapen || replies.Call(spec) != c.call {
			t.Errorf("%s, %s: got %s, %v, %s", c.fields, c.value, got, replies.Misshapen(spec, got), replies.Call(spec))
		}
		if !strings.HasPrefix(replies.Call(spec), "submit({") {
			t.Errorf("%s", replies.Call(spec))
		}
	}
}
