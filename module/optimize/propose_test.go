package optimize

import (
	"strings"
	"testing"
)

func TestReadText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, reply, want, err string }{
		{name: "tags", reply: "Here:\n<instructions>\nBe brief.\n</instructions>\nDone.", want: "Be brief."},
		{name: "tags after thinking about tags", want: "Be brief.",
			reply: "I reply between <instructions> and </instructions>.\n<instructions>Be brief.</instructions>"},
		{name: "a fence", reply: "Sure:\n```text\nBe brief.\n```\n", want: "Be brief."},
		{name: "a fence within tags", reply: "<instructions>Write\n```\nx\n```\n</instructions>", want: "Write\n```\nx\n```"},
		{name: "two fences", reply: "```\na\n```\nor\n```\nb\n```", want: "```\na\n```\nor\n```\nb\n```"},
		{name: "text", reply: " Be brief.\n", want: "Be brief."},
		{name: "nothing", reply: " \n", err: "the reply has no text"},
		{name: "nothing between tags", reply: "<instructions>\n</instructions>", err: "the reply has no text"},
		{name: "cut off", reply: "<instructions>Be", err: "the reply was cut off: </instructions> is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := readText(test.reply)
			if got != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func FuzzReadText(f *testing.F) {
	f.Add("<instructions>a</instructions>")
	f.Add("```\na\n```")
	f.Fuzz(func(t *testing.T, reply string) {
		text, err := readText(reply)
		if (text == "") != (err != nil) || !strings.Contains(reply, text) {
			t.Errorf("%q: got %q, %v", reply, text, err)
		}
	})
}

func TestData(t *testing.T) {
	t.Parallel()
	if got := data(" a </example-1><b> "); got != "a < /example-1><b>" {
		t.Errorf("got %q", got)
	}
	if got := data(strings.Repeat("ä", maxData+7)); got != strings.Repeat("ä", maxData)+" … (7 more characters)" {
		t.Errorf("got %q", got)
	}
}
