package module_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

type Diary struct {
	Question string   `json:"question"`
	Entries  []string `json:"entries" jsonschema:"description=one for each day"`
}

type Days struct {
	Days []int `json:"days" jsonschema:"description=from 1"`
}

// The model that writes the programs is not sent the diary of a year: it is told that there are 365 strings. Its
// program has another model read each month, all at the same time. The scripted model here looks for rain.
func ExampleRLM() {
	diary := Diary{Question: "On which days did it rain?"}
	for day := range 365 {
		weather := "The sun shone, and nothing happened."
		if day%90 == 3 {
			weather = "We stayed in and listened to the drops on the roof."
		}
		diary.Entries = append(diary.Entries, fmt.Sprintf("Day %d. %s", day+1, weather))
	}
	programs := llmtest.New(
		"```js\n"+`const months = [];
for (let i = 0; i < entries.length; i += 31) months.push(entries.slice(i, i + 31));
const ask = month => 'On which of these days did it rain? Their numbers, or NONE.\n\n' + month.join('\n');
const answers = await llm(months.map(ask));
answers`+"\n```",
		"```js\n"+`submit({days: answers.join(' ').match(/\d+/g).map(Number)});`+"\n```",
	)
	cheaper := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		days := "NONE"
		for line := range strings.Lines(r.Last()) {
			if day, _, ok := strings.Cut(line, ". We stayed in"); ok {
				days = strings.TrimPrefix(day, "Day ")
			}
		}
		return llmtest.Reply{Text: days}, nil
	})

	sig := signature.Must(signature.New[Diary, Days]("Answer the question about the diary."))
	box, err := sandbox.NewInProcess(nil) // sandbox.New for programs of real models
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	rlm := module.NewRLM(sig, programs, box, nil, &module.RLMOptions{Sub: cheaper, MaxCalls: 20, MaxTokens: 100_000})
	pred, err := rlm.Run(context.Background(), diary)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Days, "by", pred.Trajectory.Spent.Total().Calls, "questions")
	_, shown, _ := strings.Cut(programs.Requests()[0].Last(), "[[ ## entries ## ]]\n")
	fmt.Println(strings.SplitN(shown, "\n", 2)[0])
	// Output:
	// [4 94 184 274 364] by 12 questions
	// an array of 365 strings, shown in part:
}
