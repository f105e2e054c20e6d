package module_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// A conversation can be continued in another process, with its variables.
func TestChatRecord(t *testing.T) {
	t.Parallel()
	first, _ := newChat(t, nil, nil, fence("const rows = ['<a>', 'b']; submit({answer: 'two'})"))
	mustRun(t, first, saying{"How many?"})
	record, err := first.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, model := newChat(t, nil, nil, fence("submit({answer: rows.join()})"), fence("submit({answer: 'none'})"))
	if err := second.Restore(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	again, err := second.Record(t.Context())
	if err != nil || string(again) != string(record) {
		t.Errorf("got %s, %v, want %s", again, err, record)
	}
	pred, err := second.Run(t.Context(), saying{"Which?"})
	if err != nil || pred.Output.Answer != "<a>,b" {
		t.Fatalf("got %v, %v", pred, err)
	}
	if got := transcriptOf(
		model.Requests()[0],
	); !strings.HasPrefix(got, "[[ ## question ## ]]\nHow many?") ||
		!strings.Contains(got, "- rows: array of 2 items") {
		t.Errorf("got\n%s", got)
	}
	for _, bad := range []string{"", "1", "{}", `{"format": "writ chat 2", "turns": []}`,
		strings.ReplaceAll(string(record), "question", "quest"), string(record) + "x"} {
		if err := second.Restore(t.Context(), []byte(bad)); err == nil || errors.Is(err, sandbox.ErrSessionLost) {
			t.Errorf("%.50s: got %v", bad, err)
		}
	}
	damaged := strings.Replace(string(record), "rows", "cows", -1)
	if err := second.Restore(t.Context(), []byte(damaged)); !errors.Is(err, sandbox.ErrSessionLost) {
		t.Fatalf("got %v", err)
	}
	mustRun(t, second, saying{"And now?"})
	wantTold(t, model, 1, "The variables of earlier programs are gone. Declare again what you need.")
}

// The record of a chat with another signature is refused.
func TestChatRecordOfAnotherSignature(t *testing.T) {
	t.Parallel()
	chat, _ := newChat(t, nil, nil)
	record, err := chat.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type counted struct {
		N int `json:"n"`
	}
	other := module.NewChat(
		signature.Must(signature.New[saying, counted]("Answer.")),
		llmtest.New(),
		inProcess(t),
		nil,
		nil,
	)
	for _, c := range []struct{ record, want string }{
		{string(record),
			"module: restore the chat: the record has a different signature: the output n is new, " +
				"the output answer is missing"},
		{"", "module: restore the chat: the record is empty"},
	} {
		wantError(t, other.Restore(t.Context(), []byte(c.record)), c.want)
	}
}

// An error of a method that did not get its turn says what was not done.
func TestChatIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			<-ctx.Done()
			return llmtest.Reply{}, ctx.Err()
		})
		chat := module.NewChat(talking, model, inProcess(t), nil, nil)
		turn, end := context.WithCancel(t.Context())
		go func() { _, _ = chat.Run(turn, saying{"How many?"}) }()
		synctest.Wait()
		for what, do := range map[string]func(context.Context) error{
			"the turn was not started":  func(ctx context.Context) error { _, err := chat.Run(ctx, saying{"Why?"}); return err },
			"the chat was not recorded": func(ctx context.Context) error { _, err := chat.Record(ctx); return err },
			"the chat was not restored": func(ctx context.Context) error { return chat.Restore(ctx, []byte("{}")) },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := do(ctx)
			cancel()
			if want := "module: " + what + ": another turn is still in progress: context deadline exceeded"; err == nil ||
				err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		end()
	})
}
