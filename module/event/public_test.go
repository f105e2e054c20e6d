package event_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// all has an event of each type.
var all = []event.Event{
	event.RunStart{}, event.ModelRequest{}, event.TextDelta{}, event.ModelResponse{}, event.ReplyRejected{},
	event.ProgramStart{}, event.ToolCallStart{}, event.ToolCallEnd{}, event.ProgramEnd{}, event.Scored{}, event.RunEnd{},
}

const canary = "canary"

// fill writes the canary and the path of the value into every string that v has, at any depth, as if events came from
// a hostile program. Structs nest, so a limit ends the recursion.
func fill(v reflect.Value, path string, depth int) {
	if depth > 8 || !v.CanSet() {
		return
	}
	mark := canary + "<" + path + ">"
	switch v.Interface().(type) {
	case json.RawMessage:
		raw, _ := json.Marshal(mark)
		v.Set(reflect.ValueOf(json.RawMessage(raw)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(mark)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, depth+1)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Interface {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), path, depth+1)
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && v.Type().Elem().Kind() == reflect.Interface {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf(mark).Convert(v.Type().Key()), reflect.ValueOf(mark))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), depth+1)
		}
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() {
			v.Set(reflect.ValueOf(errors.New(mark)))
		}
	}
}

// Every string of every event is removed, except for the names, kinds and reasons in this list.
func TestPublic(t *testing.T) {
	t.Parallel()
	kept := map[string]bool{
		"Origin.Module": true, "Origin.Name": true, "Origin.CalledBy": true, "Predictor": true, "Field": true, "Model": true, "FinishReason": true,
		"Call.Tool": true, "Outcome.Calls.Tool": true, "Outcome.Failure.Finding.Kind": true,
		"Outcome.Failure.Findings.Kind": true, "Outcome.Warnings.Kind": true,
	}
	seen := map[string]bool{}
	for _, e := range all {
		v := reflect.New(reflect.TypeOf(e)).Elem()
		fill(v, "", 0)
		if r, ok := v.Interface().(event.ModelRequest); ok {
			r.Messages = []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, canary+"<Messages>")}
			v.Set(reflect.ValueOf(r))
		}
		full, err := event.JSON(v.Interface().(event.Event))
		if err != nil || !strings.Contains(string(full), canary) {
			t.Fatalf("%T: the test does not fill the event: %v\n%s", e, err, full)
		}
		public := event.Public(v.Interface().(event.Event))
		raw, err := event.JSON(public)
		if err != nil || reflect.TypeOf(public) != reflect.TypeOf(e) {
			t.Errorf("%T: %T, %v", e, public, err)
		}
		for _, text := range []string{string(raw), fmt.Sprintf("%+v", public)} {
			text = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(text)
			for _, part := range strings.Split(text, canary)[1:] {
				path, _, _ := strings.Cut(strings.TrimPrefix(part, "<"), ">")
				if seen[path] = true; !kept[path] {
					t.Errorf("%T: %s is not removed:\n%s", e, path, text)
				}
			}
		}
	}
	for path := range kept {
		if !seen[path] {
			t.Errorf("%s is removed; only %v are kept", path, slices.Sorted(maps.Keys(seen)))
		}
	}
}

func TestPublicErrors(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"":                               nil,
		"failed":                         errors.New(canary),
		"context canceled":               fmt.Errorf("%s: %w", canary, context.Canceled),
		"context deadline exceeded":      fmt.Errorf("%s: %w", canary, context.DeadlineExceeded),
		"the model failed: rate limited": &models.Error{Kind: models.KindRateLimited, Err: errors.New(canary)},
	} {
		got := ""
		if e := event.Public(event.RunEnd{Err: err}).(event.RunEnd); e.Err != nil {
			got = e.Err.Error()
		}
		if got != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}

// A program can invent names of tools, and a tool can invent kinds of errors.
func TestPublicCall(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		tools.KindUnknownTool: `{"tool":"","kind":"unknown_tool","message":""}`,
		tools.KindDenied:      `{"tool":"pay","kind":"denied","message":""}`,
		canary:                `{"tool":"pay","kind":"failed","message":""}`,
	} {
		call := sandbox.Call{Tool: "pay", Error: &tools.ToolError{Tool: "pay", Kind: kind, Message: canary}}
		got := event.Public(event.ToolCallEnd{Call: call}).(event.ToolCallEnd).Call
		if raw, err := json.Marshal(got.Error); err != nil || string(raw) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", kind, err, raw, want)
		}
	}
}

func TestPublicOfNoEvent(t *testing.T) {
	t.Parallel()
	for _, e := range []event.Event{nil, &event.RunEnd{}} {
		if public, name := event.Public(e), event.Name(e); public != nil || name != "" {
			t.Errorf("%T: %v, %q", e, public, name)
		}
	}
}

// A service streams the progress of a run to its clients, but not what the run is about.
func ExamplePublic() {
	end := event.ToolCallEnd{Call: sandbox.Call{ID: 1, Tool: "mail.send", Args: json.RawMessage(`{"to":"ann@example.org"}`)}}
	line, err := event.JSON(event.Public(end))
	fmt.Println(event.Name(end), strings.Contains(string(line), "mail.send"), strings.Contains(string(line), "ann"), err)
	// Output: ToolCallEnd true false <nil>
}
