// Invoice shows typed extraction: a Go struct describes what is in the text of a PDF, and Predict returns the struct,
// validated. The text has the layout that pdftotext -layout prints.
//
//	go run ./examples/invoice
//
// Unless -model names a real model, the model is scripted.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

//go:embed data/invoice.txt
var text string

type Document struct {
	Text string `json:"text"`
}

type Invoice struct {
	Number string  `json:"number"`
	Seller string  `json:"seller"`
	Due    string  `json:"due" jsonschema:"format=date"`
	Items  []Item  `json:"items"`
	VAT    float64 `json:"vat" jsonschema:"minimum=0"`
	Total  float64 `json:"total" jsonschema:"description=With VAT."`
}

type Item struct {
	Description string  `json:"description"`
	Quantity    int     `json:"quantity" jsonschema:"minimum=1"`
	UnitPrice   float64 `json:"unit_price"`
}

func main() { models.Main(run, script) }

func run(ctx context.Context, model llms.Model, w io.Writer) error {
	sig := signature.Must(signature.New[Document, Invoice]("Extract the invoice."))
	pred, err := module.NewPredict(sig, model, nil).Run(ctx, Document{text})
	if err != nil {
		return err
	}
	invoice, sum := pred.Output, pred.Output.VAT
	fmt.Fprintf(w, "%s from %s, due %s\n", invoice.Number, invoice.Seller, invoice.Due)
	for _, item := range invoice.Items {
		fmt.Fprintf(w, "%4d × %-32s %8.2f\n", item.Quantity, item.Description, item.UnitPrice)
		sum += float64(item.Quantity) * item.UnitPrice
	}
	fmt.Fprintf(w, "total %.2f; items and VAT add up to %.2f\n", invoice.Total, sum)
	return nil
}

const script = `{"number": "2025-0417", "seller": "Hansen Marine Supply AS", "due": "2025-04-13", "items": [
	{"description": "Mooring rope, 14 mm, 50 m", "quantity": 4, "unit_price": 890},
	{"description": "Fender, inflatable, navy blue", "quantity": 6, "unit_price": 345.5},
	{"description": "Navigation light, LED", "quantity": 2, "unit_price": 1120}], "vat": 1968.25, "total": 9841.25}`
