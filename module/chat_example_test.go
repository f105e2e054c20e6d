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
	"github.com/writ-go/writ/tools"
)

type Ask struct {
	Question string `json:"question"`
}

type Told struct {
	Answer string `json:"answer"`
}

type Order struct {
	Customer string  `json:"customer"`
	Total    float64 `json:"total"`
}

// An analyst is asked three questions about the orders. The program of the first turn loads the
// table. Those of the later turns use it, so the tool is called once. The model here is scripted;
// pass one that models.Open returns.
func ExampleChat() {
	loaded := 0
	load := func(context.Context, struct{}) ([]Order, error) {
		loaded++
		return []Order{{"Mole", 30}, {"Rat", 120}, {"Mole", 50}, {"Toad", 700}}, nil
	}
	set, err := tools.NewSet(context.Background(),
		tools.Func("orders", "Returns all orders.", load, &tools.Hints{Class: tools.Read}))
	if err != nil {
		log.Fatal(err)
	}
	model := llmtest.New(
		"```js\nconst table = await orders({});\nsubmit({answer: `There are ${table.length} orders.`})\n```",
		"```js\nconst spent = {};\nfor (const o of table) spent[o.customer] = (spent[o.customer] ?? 0) + o.total;\n"+
			"const [best] = Object.entries(spent).sort((a, b) => b[1] - a[1]);\nsubmit({answer: `${best[0]} spent "+
			"${best[1]}.`})\n```",
		"```js\nsubmit({answer: `${Object.keys(spent).filter(name => spent[name] < 100).join(', ')} spent less than "+
			"100.`})\n```",
	)
	box, err := sandbox.NewInProcess(nil) // sandbox.New for programs of real models
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	sig := signature.Must(signature.New[Ask, Told]("Answer questions about the orders."))
	chat := module.NewChat(sig, model, box, set, nil)
	for _, question := range []string{"How many orders are there?", "Who spent most?", "And who spent little?"} {
		pred, err := chat.Run(context.Background(), Ask{question})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pred.Output.Answer)
	}
	fmt.Println("The orders were loaded", loaded, "time.")
	_, newest, _ := strings.Cut(model.Requests()[2].Last(), "\n\n")
	fmt.Println(newest[:strings.Index(newest, "\n\n")])
	// Output:
	// There are 4 orders.
	// Toad spent 700.
	// Mole spent less than 100.
	// The orders were loaded 1 time.
	// Variables from earlier programs that you can use:
	// - table: array of 4 items {customer, total}
	// - spent: object of 3 keys {Mole, Rat, Toad}
	// - best: array of 2 items
}
