package module_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

type saying struct {
	Question string `json:"question"`
}

type told struct {
	Answer string `json:"answer"`
}

var talking = signature.Must(signature.New[saying, told]("Answer."))

func newChat(t *testing.T, o *module.Options, set *tools.Set, replies ...string) (*module.Chat[saying, told],
	*llmtest.Model) {
	t.Helper()
	model := llmtest.New(replies...)
	return module.NewChat(talking, model, inProcess(t), set, o), model
}

// transcriptOf returns the messages of a request, without the system prompt.
func transcriptOf(r llmtest.Request) string {
	_, text, _ := strings.Cut(r.Text(), "--- human ---\n")
	return text
}

// A later turn shows the earlier ones in short form: the programs that ran, and the answer or why there is none.
func TestChat(t *testing.T) {
	t.Parallel()
	h := &handlers{called: map[string]int{}}
	chat, model := newChat(t, &module.Options{MaxIters: 2, FreeTurns: -1}, h.set(t),
		fence("const seen = [1, 2, 3]; console.log('three'); seen"),
		fence("submit({answer: 'three'})"),
		fence("await send({to: 'Rat', text: 'x'}); throw new Error('no')"),
		fence("const more = 5; more"),
		fence("submit({answer: String(seen.length + more)})"),
	)
	for i, want := range []string{"three", "", "8"} {
		pred, err := chat.Run(t.Context(), saying{fmt.Sprintf("Question %d?", i+1)})
		switch {
		case want == "" && !errors.Is(err, module.ErrMaxIters):
			t.Fatalf("turn %d: got %v, %v", i+1, pred, err)
		case want != "" && (err != nil || pred.Output.Answer != want):
			t.Fatalf("turn %d: got %v, %v", i+1, pred, err)
		}
	}
	const question = "\n\nReply with a sentence or two, then one ```js block, and nothing after it.\n"
	want := "[[ ## question ## ]]\nQuestion 1?" + question +
		"--- ai ---\n```js\nconst seen = [1, 2, 3]; console.log('three'); seen\n```\n" +
		"--- human ---\nThe program finished. Its value:\n[1,2,3]\nconsole:\nthree\n" +
		"--- ai ---\n```js\nsubmit({answer: 'three'})\n```\n" +
		"--- human ---\nThe answer was accepted:\n{\"answer\":\"three\"}\n\n" +
		"[[ ## question ## ]]\nQuestion 2?" + question +
		"--- ai ---\n```js\nconst more = 5; more\n```\n" +
		"--- human ---\nThe program finished. Its value:\n5\n\n" +
		"Not shown: 1 failed, refused or stopped program.\n" +
		"This question was not answered: the steps are used up; the last step: The program finished without submitting " +
		"an answer. Its value: 5.\n" +
		"Calls that were made:\n- send({\"to\":\"Rat\",\"text\":\"x\"}) → \"message 1 to Rat\"\n\n" +
		"Variables from earlier programs that you can use:\n- seen: array of 3 items\n- more: number\n\n" +
		"[[ ## question ## ]]\nQuestion 3?" + question
	requests := model.Requests()
	last := requests[len(requests)-1]
	if got := transcriptOf(last); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if first := requests[0]; fmt.Sprint(first.Messages[0]) != fmt.Sprint(last.Messages[0]) {
		t.Error("the system prompt changes")
	}
	role := llms.ChatMessageTypeSystem
	for i, m := range last.Messages {
		if i > 0 && m.Role == role {
			t.Errorf("messages %d and %d both have the role %s", i, i+1, role)
		}
		role = m.Role
	}
}

// If the conversation is too long, a line tells the model how many turns are omitted. The variables of those turns
// still exist.
func TestChatTellsOmittedTurns(t *testing.T) {
	t.Parallel()
	var replies []string
	for i := range 6 {
		replies = append(replies, fence(fmt.Sprintf("const v%d = %d; submit({answer: '%s'})", i, i,
			strings.Repeat("x", 1000))))
	}
	chat, model := newChat(t, &module.Options{HistoryBytes: 5000, Compact: noSummary}, nil,
		append(replies, fence("submit({answer: String(v0)})"))...)
	for range 6 {
		mustRun(t, chat, saying{strings.Repeat("Why? ", 1000)})
	}
	pred, err := chat.Run(t.Context(), saying{"What is v0?"})
	if err != nil || pred.Output.Answer != "0" {
		t.Fatalf("got %v, %v", pred, err)
	}
	requests := model.Requests()
	got := transcriptOf(requests[len(requests)-1])
	if !strings.HasPrefix(got, "Not shown: 5 earlier turns.\n\n"+
		"[[ ## question ## ]]\na string of 5000 characters, shown in part:\nWhy?") {
		t.Errorf("got\n%.2000s", got)
	}
	if !strings.Contains(got, "- v0: number\n") || strings.Contains(got, "const v4") || len(got) > 5000 {
		t.Errorf("got %d bytes\n%s", len(got), got)
	}
}

// Turns run one after the other, even those of a clone.
func TestChatIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var replies []string
	for range 8 {
		replies = append(replies, fence("globalThis.n = (globalThis.n ?? 0) + 1; submit({answer: String(globalThis.n)})"))
	}
	chat, _ := newChat(t, nil, nil, replies...)
	var all sync.Map
	var wg sync.WaitGroup
	for i := range 8 {
		c := chat
		if i%2 == 0 {
			c = module.Clone(chat)
		}
		wg.Go(func() {
			pred, err := c.Run(t.Context(), saying{"Next?"})
			if err != nil {
				t.Error(err)
				return
			}
			all.Store(pred.Output.Answer, true)
		})
	}
	wg.Wait()
	for i := range 8 {
		if _, ok := all.Load(fmt.Sprint(i + 1)); !ok {
			t.Errorf("no answer is %d", i+1)
		}
	}
}

// lastTranscript returns the last prompt, without the system prompt.
func lastTranscript(model *llmtest.Model) string {
	requests := model.Requests()
	return transcriptOf(requests[len(requests)-1])
}

const programReminder = "\n\nReply with a sentence or two, then one ```js block, and nothing after it.\n"

// The history of an answered turn includes the observation on an answer that was questioned, and the uncertain calls.
func TestChatHistoryShowsEffects(t *testing.T) {
	t.Parallel()
	h := &handlers{called: map[string]int{}}
	chat, model := newChat(t, nil, h.set(t),
		fence("await send({to: 'Rat', text: 'x'}); throw new Error('no')"),
		fence("for (const call of [refund, pay]) try { await call({name: 'Mole', total: 1}) } catch {}"+
			"\nsubmit({answer: 'a'})"),
		fence("submit({answer: 'a'})"),
		fence("submit({answer: 'c'})"),
		fence("submit({answer: 'd'})"),
	)
	for _, question := range []string{"One?", "Two?"} {
		mustRun(t, chat, saying{question})
	}
	want := "[[ ## question ## ]]\nOne?" + programReminder +
		"--- ai ---\n```js\nfor (const call of [refund, pay]) try { await call({name: 'Mole', total: 1}) } catch {}" +
		"\nsubmit({answer: 'a'})\n```\n" +
		"--- human ---\nThe answer has the right form, but it may be wrong: line 1, column 47: refund({\"name\":\"Mole\",\"total\":1}) " +
		"may not have taken effect: there is no order of Mole. Read whether it did, and repeat it if …\n" +
		"--- ai ---\n```js\nsubmit({answer: 'a'})\n```\n" +
		"--- human ---\nNot shown: 1 failed, refused or stopped program.\nThe answer was accepted:\n{\"answer\":\"a\"}\n" +
		"Effects of failed programs, which still apply:\n- send({\"to\":\"Rat\",\"text\":\"x\"}) → \"message 1 to Rat\"\n" +
		"Reported an error, but may have taken effect:\n- refund({\"name\":\"Mole\",\"total\":1}) → there is no order " +
		"of Mole\n" +
		"Unknown whether it happened:\n- pay({\"name\":\"Mole\",\"total\":1})\n" +
		"Check whether such a call took effect before you repeat it.\n\n" +
		"Open from earlier questions:\nReported an error, but may have taken effect. Check first:\n" +
		"- E2 refund({\"name\":\"Mole\",\"total\":1}) → there is no order of Mole\n" +
		"Unknown whether it happened:\n- E3 pay({\"name\":\"Mole\",\"total\":1})\n" +
		"Repeating such a call ends the task. If a tool can show whether it happened, check; then continue without the " +
		"call.\nLeave out what took effect, and pass {distinct: \"E2\", again: \"E2\"} as the second argument of every " +
		"call of refund, with only those under again that did not take effect.\n\n" +
		"[[ ## question ## ]]\nTwo?" + programReminder
	if got := lastTranscript(model); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is uncertain stays open in a conversation that is restored, also a second time.
func TestChatRecordHasUncertainCalls(t *testing.T) {
	t.Parallel()
	h := &handlers{called: map[string]int{}}
	const order = "({name: 'Mole', total: 1})"
	chat, _ := newChat(t, nil, h.set(t), fence("await send({to: 'Rat', text: 'x'}); "+
		"for (const call of [refund, pay]) try { await call"+order+" } catch {}\nsubmit({answer: 'a'})"),
		fence("submit({answer: 'a'})"))
	mustRun(t, chat, saying{"One?"})
	for range 2 {
		record, err := chat.Record(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var model *llmtest.Model
		chat, model = newChat(t, nil, h.set(t), fence("await refund"+order), fence("await pay"+order))
		if err := chat.Restore(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		_, err = chat.Run(t.Context(), saying{"Two?"})
		if unknown := (*journal.UnknownError)(nil); !errors.As(err, &unknown) || h.counts() != "pay=1 refund=1 send=1" {
			t.Errorf("got %v, and the calls %s", err, h.counts())
		}
		wantTold(t, model, 0, "- E2 pay({\"name\":\"Mole\",\"total\":1})\nRepeating such a call ends the task.")
		wantTold(t, model, 1, "E1 made exactly this call and reported an error, so it may have taken effect.")
		damaged := strings.Replace(string(record), `"op":"issue"`, `"op":"settle"`, 1)
		wantError(t, chat.Restore(t.Context(), []byte(damaged)),
			`module: restore the chat: journal: the record is damaged: "E1" is not an entry`)
	}
}

// twice asks a chat the same question twice, the second time through a clone.
type twice struct{ Chat *module.Chat[saying, told] }

func (m twice) Run(ctx context.Context, in saying) (*module.Prediction[told], error) {
	if _, err := m.Chat.Run(ctx, in); err != nil {
		return nil, err
	}
	return module.Clone(m.Chat).Run(ctx, in)
}

// What an earlier turn has done is done again if the question is asked again. What failed in it is held, until the
// program names it. Each turn has only its own calls.
func TestChatHasOneJournal(t *testing.T) {
	t.Parallel()
	h := &handlers{called: map[string]int{}}
	const order = "{name: 'Mole', total: 1}"
	turn := func(second string) string {
		return fence("await list_orders({}); await send({to: 'Rat', text: 'x'});" +
			" try { await refund(" + order + second + ") } catch {} submit({answer: 'there is no order of Mole'})")
	}
	chat, model := newChat(t, nil, h.set(t), turn(""), turn(""), turn(", {again: 'E3'}"))
	pred, err := module.Start(t.Context(), twice{chat}, saying{"Again?"}).Result()
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for c := range pred.Trajectory.AllCalls() {
		calls = append(calls, fmt.Sprintf("%d: %s %s %s", c.Turn, c.ID, c.Tool, c.State))
	}
	want := "2: E4 list_orders ok, 2: E5 send ok, 2: E6 list_orders ok, 2: E7 refund failed, " +
		"1: E1 list_orders ok, 1: E2 send ok, 1: E3 refund failed"
	if got := strings.Join(calls, ", "); got != want || h.counts() != "list_orders=3 refund=2 send=2" {
		t.Errorf("got  %s; %s\nwant %s", got, h.counts(), want)
	}
	wantTold(t, model, 2, "The program was stopped before the call refund({\"name\":\"Mole\",\"total\":1}), which was not "+
		"made: E3 made exactly this call and reported an error, so it may have taken effect.")
}

// The history says why a turn has no answer.
func TestChatUnansweredTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{context.DeadlineExceeded, "the deadline was exceeded"},
		{context.Canceled, "it was canceled"},
		{tools.Fatal(errors.New("secret")), "a tool ended it"},
		{errors.New("secret"), "the model failed; the reason is not shown"},
	} {
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if r.N == 1 {
				return llmtest.Reply{}, c.err
			}
			return llmtest.Reply{Text: fence("submit({answer: 'b'})")}, nil
		})
		chat := module.NewChat(talking, model, inProcess(t), nil, nil)
		if _, err := chat.Run(t.Context(), saying{"One?"}); !errors.Is(err, c.err) {
			t.Fatal(err)
		}
		mustRun(t, chat, saying{"Two?"})
		want := "[[ ## question ## ]]\nOne?" + programReminder + "\nThis question was not answered: " + c.want + ".\n\n" +
			"[[ ## question ## ]]\nTwo?" + programReminder
		if got := lastTranscript(model); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// The history shows earlier programs with the sentence before them, and only the number of earlier images.
func TestChatHistoryOfPicture(t *testing.T) {
	t.Parallel()
	type look struct {
		Picture  signature.Image `json:"picture"`
		Question string          `json:"question"`
	}
	picture := signature.Image{MIME: "image/png", Data: bytes.Repeat([]byte("p"), 5000)}
	model := llmtest.New("I answer at once.\n\n"+fence("submit({answer: 'a'})"), fence("submit({answer: 'b'})"))
	chat := module.NewChat(signature.Must(signature.New[look, told]("Answer.")), model, inProcess(t), nil, nil)
	for _, question := range []string{"One?", "Two?"} {
		mustRun(t, chat, look{picture, question})
	}
	want := "[[ ## picture ## ]]\n1 attachment, not shown again\n\n[[ ## question ## ]]\nOne?" + programReminder +
		"--- ai ---\nI answer at once.\n\n```js\nsubmit({answer: 'a'})\n```\n" +
		"--- human ---\nThe answer was accepted:\n{\"answer\":\"a\"}\n\n[[ ## picture ## ]]\n(attachment 1)"
	if got := lastTranscript(model); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// When a session is full, the model is told what to do.
func TestChatSessionIsFull(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.NewInProcess, patiently(sandbox.Limits{Memory: 32 << 20}))
	load := func(context.Context, struct{}) (string, error) { return strings.Repeat("y", 600_000), nil }
	set := toolSet(t, tools.Func("load", "Loads.", load, &tools.Hints{Class: tools.Read}))
	model := llmtest.New(fence("const a = await load({}), b = await load({}); submit({answer: 'a'})"),
		fence("submit({answer: a})"), fence("const a = await load({}); submit({answer: String(a.length)})"))
	chat := module.NewChat(talking, model, box, set, nil)
	for _, want := range []string{"a", "600000"} {
		if pred, err := chat.Run(t.Context(), saying{"Next?"}); err != nil || pred.Output.Answer != want {
			t.Fatalf("got %v, %v", pred, err)
		}
	}
	want := "The program was refused; nothing has run:\nthere is no more room, so the variables of earlier " +
		"programs are gone (load again what you need)"
	if got := model.Requests()[2].Last(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// A program of a Chat answers a question; it does not end the task.
func TestChatBriefing(t *testing.T) {
	t.Parallel()
	chat, model := newChat(t, nil, nil, fence("submit({answer: 'a'})"))
	mustRun(t, chat, saying{"One?"})
	got := model.Requests()[0].Text()
	for _, want := range []string{
		"You can write at most 8 programs for each question.\n",
		"\nsubmit answers the question. The answer must have this type:\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// A Chat cannot make attempts, which would all be turns of one conversation.
func TestChatMakesNoAttempts(t *testing.T) {
	t.Parallel()
	chat, model := newChat(t, nil, nil)
	reward := func(context.Context, saying, *module.Prediction[told]) (module.Score, error) {
		return module.Score{}, nil
	}
	const want = "module: a Chat cannot make attempts, since all of them would be turns of one conversation; use a CodeAct"
	wantError(t, second(module.NewBestOfN(chat, 2, reward, 1, nil).Run(t.Context(), saying{"One?"})), want)
	wantError(t, second(module.Samples(t.Context(), chat, saying{"One?"}, 2, nil)), want)
	if n := len(model.Requests()); n > 0 {
		t.Errorf("the model was called %d times", n)
	}
}
