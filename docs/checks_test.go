package docs_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// This example is shown in models.md.

type request struct {
	Text string `json:"text"`
}

type Booking struct {
	From signature.Date `json:"from"`
	To   signature.Date `json:"to"`
	Room string         `json:"room"`
}

func (b Booking) Validate() error {
	if b.To.Compare(b.From) <= 0 {
		return fmt.Errorf("to is %v, which is not after from", b.To)
	}
	return nil
}

// checked returns a signature that accepts only bookings of free rooms.
func checked(sig *signature.Signature[request, Booking], rooms map[string]bool) *signature.Signature[request, Booking] {
	return sig.WithCheck(func(ctx context.Context, b Booking) error {
		free, known := rooms[b.Room]
		switch {
		case len(rooms) == 0:
			return tools.Fatal(errors.New("the calendar cannot be read")) // ends the run; the model does not see it
		case !known || !free:
			return fmt.Errorf("room %s is not free", b.Room)
		}
		return nil
	})
}

func Example_check() {
	sig := signature.Must(signature.New[request, Booking]("Book a room."))
	reply := func(to, room string) string {
		return fmt.Sprintf(`{"from": "2026-01-30", "to": %q, "room": %q}`, to, room)
	}
	model := llmtest.New(reply("2026-01-29", "12"), reply("2026-02-01", "12"), reply("2026-02-01", "14"))
	options := &module.Options{Retries: 2, Adapter: module.JSON()}
	book := module.NewPredict(checked(sig, map[string]bool{"12": false, "14": true}), model, options)
	pred, err := book.Run(context.Background(), request{"A room from January 30 to February 1."})
	fmt.Println(pred.Output, err)

	book = module.NewPredict(checked(sig, nil), llmtest.New(reply("2026-02-01", "12")), options)
	_, err = book.Run(context.Background(), request{"The same again."})
	fmt.Println(err)
	// Output:
	// {2026-01-30 2026-02-01 14} <nil>
	// module: no answer after 1 step: the check of the answer: the calendar cannot be read
}
