package event_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/event"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	at := event.Origin{Module: "CodeAct", Run: math.MaxUint64, Step: 2}
	const origin = `"time":"0001-01-01T00:00:00Z","module":"CodeAct","run":"18446744073709551615","step":2`
	prompt := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Why?")}
	for want, e := range map[string]event.Event{
		`{"event":"RunStart","data":{` + origin + `}}`:                                                             event.RunStart{Origin: at},
		`{"event":"ModelRequest","data":{` + origin + `,"model":"m"},"messages":[{"role":"human","text":"Why?"}]}`: event.ModelRequest{Origin: at, Model: "m", Messages: prompt},
		`{"event":"ModelResponse","data":{` + origin + `,"text":"","usage":{"calls":1,"input_tokens":0,"output_tokens":0},` +
			`"duration_ns":0},"error":"down"}`: event.ModelResponse{Origin: at, Usage: event.Usage{Calls: 1}, Err: errors.New("down")},
		`{"event":"Scored","data":{` + origin + `,"value":1.7976931348623157e+308}}`: event.Scored{Origin: at, Value: math.Inf(1)},
		`{"event":"RunEnd","data":{` + origin + `,"output":{"total":3}}}`: event.RunEnd{Origin: at,
			Output: json.RawMessage(`{"total":3}`)},
		`{"event":"RunEnd","data":{` + origin + `},"error":"no answer"}`: event.RunEnd{Origin: at, Err: errors.New("no answer")},
	} {
		if got, err := event.JSON(e); err != nil || string(got) != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
}

func TestJSONOfNoEvent(t *testing.T) {
	t.Parallel()
	for _, e := range []event.Event{nil, &event.RunEnd{}} {
		if got, err := event.JSON(e); got != nil || err == nil {
			t.Errorf("%T: got %s, %v", e, got, err)
		}
	}
}

// Counts that a provider reports do not overflow or become negative.
func TestUsageAdd(t *testing.T) {
	t.Parallel()
	u := event.Usage{Calls: 1, InputTokens: math.MaxInt}
	if got := u.Add(event.Usage{Calls: 2, InputTokens: 1, OutputTokens: -5}); got != (event.Usage{
		Calls: 3, InputTokens: math.MaxInt,
	}) {
		t.Errorf("got %+v", got)
	}
}

// An observer can write every event of a run as a line of JSON.
func ExampleJSON() {
	line, err := event.JSON(event.RunEnd{Origin: event.Origin{Module: "Predict", Run: 7}, Err: errors.New("out of luck")})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
	// Output:
	// {"event":"RunEnd","data":{"time":"0001-01-01T00:00:00Z","module":"Predict","run":"7"},"error":"out of luck"}
}
