package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature"
)

func encoded(t testing.TB, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Short inputs need little space, so that others can be shown in full.
func TestPreviews(t *testing.T) {
	t.Parallel()
	text := func(n int) json.RawMessage { return encoded(t, strings.Repeat("y", n)) }
	whole := func(in, out signature.Values) (list []bool) {
		for i := range in {
			list = append(list, string(in[i].JSON) == string(out[i].JSON))
		}
		return list
	}
	for _, c := range []struct {
		sizes []int
		want  string
	}{
		{[]int{10, 7000, 20}, "[true true true]"},
		{[]int{9000}, "[false]"},
		{[]int{7900, 7900}, "[true true]"},
		{[]int{7900, 10, 7900, 7900}, "[true true false false]"},
		{[]int{9000, 7900, 10, 9000}, "[false true true false]"},
	} {
		var in signature.Values
		for i, n := range c.sizes {
			in = append(in, signature.Value{Name: fmt.Sprint("v", i), JSON: text(n)})
		}
		if got := fmt.Sprint(whole(in, Preview(in))); got != c.want {
			t.Errorf("%v: %s, want %s", c.sizes, got, c.want)
		}
	}
}

func TestPreviewIsBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 10, 100} {
		var in signature.Values
		for i := range n {
			in = append(in, signature.Value{Name: fmt.Sprint("v", i), JSON: encoded(t, strings.Repeat("é\n", 5_000_000/n))})
		}
		size := 0
		for _, v := range Preview(in) {
			size += len(v.JSON)
		}
		if most := min(n*2*inputPart, allInputs+n*2*minInputPart); size > most {
			t.Errorf("%d inputs of 15 MB together are shown in %d bytes, more than %d", n, size, most)
		}
	}
}

// BenchmarkPreview shows a part of 10 MB.
func BenchmarkPreview(b *testing.B) {
	var rows []map[string]any
	for i := range 100_000 {
		rows = append(rows, map[string]any{"id": i, "name": "somebody's name",
			"tags": []string{"one", "two", "three", "four", "five", "six"}})
	}
	for name, value := range map[string]any{"text": strings.Repeat("0123456789", 1_000_000), "rows": rows} {
		in := signature.Values{{Name: name, JSON: encoded(b, value)}}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in[0].JSON)))
			for b.Loop() {
				Preview(in)
			}
		})
	}
}

func TestMediaInputs(t *testing.T) {
	t.Parallel()
	type album struct {
		Cover  signature.Image    `json:"cover" jsonschema:"description=On the {front}."`
		Back   *signature.Image   `json:"back"`
		Pages  []signature.Image  `json:"pages,omitempty"`
		Loose  *[]signature.Image `json:"loose"`
		Letter signature.File     `json:"letter"`
	}
	type caption struct{ Text string }
	const want = "Inputs:\n- cover: Image // On the {front}.\n- back?: Image | null\n- pages?: Image[]\n" +
		"- loose?: Image[] | null\n- letter: File"
	spec := signature.Must(signature.New[album, caption]("Describe.")).Spec()
	if got := strings.TrimSpace(inputs(spec)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
