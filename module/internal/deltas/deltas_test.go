package deltas_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/internal/deltas"
)

// split divides a reply into pieces of n bytes.
func split(reply string, n int, make func(deltas.Emit) deltas.Splitter) (fields map[string]string, pieces int) {
	fields = map[string]string{}
	s := make(func(field, text string) {
		if text == "" {
			panic("an empty piece")
		}
		pieces++
		fields[field] += text
	})
	for len(reply) > n {
		s.Add(reply[:n])
		reply = reply[n:]
	}
	s.Add(reply)
	s.End()
	return fields, pieces
}

func markers(emit deltas.Emit) deltas.Splitter {
	return deltas.Markers([]string{"answer", "score"}, "completed", emit)
}

func object(emit deltas.Emit) deltas.Splitter {
	return deltas.JSON([]string{"answer", "score"}, emit)
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reply string
		make        func(deltas.Emit) deltas.Splitter
		want        string
	}{
		{"markers", "[[ ## answer ## ]]\nTwo lines,\n[1] of them\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]\nmore",
			markers,
			"map[answer:Two lines,\n[1] of them score:0.5]"},
		{"text around markers", "Well: [[x]]\n[[ ## answer ## ]] yes", markers, "map[:Well: [[x]] answer:yes]"},
		{"a marker of no field", "[[ ## answer ## ]]\nsee [[ ## other ## ]] there\n[[## score ##]]1", markers,
			"map[answer:see [[ ## other ## ]] there score:1]"},
		{"a marker within a line", "[[ ## answer ## ]]\nsee [[score]] and [[ ## score ## ]]\n[[score]] 1", markers,
			"map[answer:see [[score]] and [[ ## score ## ]] score:1]"},
		{"markers in other forms", "[[ ## Answer ## ]]: yes\n[[SCORE]]**\n1\n[[Completed]]", markers,
			"map[answer:yes score:1]"},
		{"cut off in a marker", "[[ ## answer ## ]]\nyes\n[[ ## sco", markers, "map[answer:yes]"},
		{"no markers", "just text\n", markers, "map[:just text]"},
		{"an object", `{"answer": "a \"b\"\n\u00e9 \ud83d\ude00 \/", "score" : {"x": [1, "}"]}, "other": "no"}`, object,
			"map[answer:a \"b\"\né 😀 / score:{\"x\": [1, \"}\"]}]"},
		{"a fenced object", "Here:\n```json\n{\"score\": 0.5\n, \"answer\": \"  x \"}\n```", object,
			"map[answer:  x  score:0.5]"},
		{"cut off", `{"answer": "hal`, object, "map[answer:hal]"},
		{"halves of characters", `{"answer": "\ud83dx\u0041", "score": "\ud83d\u0041\udc00"}`, object,
			"map[answer:\ufffdxA score:\ufffdA\ufffd]"},
		{"null", `{"answer": null, "score": 1}`, object, "map[score:1]"},
	} {
		for _, n := range []int{1, 2, 3, 7, 1000} {
			if got, _ := split(c.reply, n, c.make); fmt.Sprint(got) != c.want {
				t.Errorf("%s, in pieces of %d: got %v, want %s", c.name, n, got, c.want)
			}
		}
	}
}

// A reply of 200,000 brackets took a minute when each was compared with the rest of the reply.
func TestSplitManyBrackets(t *testing.T) {
	t.Parallel()
	reply := strings.Repeat("[", 200_000)
	if got, _ := split(reply, len(reply), markers); got[""] != reply {
		t.Errorf("got %d bytes", len(got[""]))
	}
}

// Text is passed on as it arrives, not at the end.
func TestSplitIsEarly(t *testing.T) {
	t.Parallel()
	reply := `{"answer": "` + strings.Repeat("word ", 100) + `"}`
	if _, pieces := split(reply, 5, object); pieces < 90 {
		t.Errorf("got %d pieces", pieces)
	}
}

// FuzzJSON checks that any string arrives completely, however it is split.
func FuzzJSON(f *testing.F) {
	f.Add("a \"quoted\" \\ text\n😀", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		text = strings.ToValidUTF8(text, "?")
		raw, err := json.Marshal(map[string]string{"answer": text})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := split(string(raw), 1+max(n, 0)%50, object); got["answer"] != text {
			t.Errorf("got %q, want %q", got["answer"], text)
		}
	})
}

// FuzzMarkers checks that no part of a marker is passed on, whatever is between two markers.
func FuzzMarkers(f *testing.F) {
	f.Add("two lines\n**of** text ]] : `", 3)
	f.Add("", 1)
	withoutMarkers := strings.NewReplacer("[", "(", "#", "+")
	f.Fuzz(func(t *testing.T, text string, n int) {
		text = withoutMarkers.Replace(text)
		reply := "[[ ## answer ## ]]\n" + text + "\n\n[[ ## score ## ]]\n1\n\n[[ ## completed ## ]]"
		got, _ := split(reply, 1+max(n, 0)%50, markers)
		if want := strings.Trim(text, " \t\r\n"); got["answer"] != want || got["score"] != "1" || len(got) > 2 {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
