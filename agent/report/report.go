package report

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools/policy"
)

// Options configures a report. The zero value, and nil, are the defaults.
type Options struct {
	// Title is the heading of the page. The default names the module, or the kind of report.
	Title string

	// Inputs is the question of a run, as a value for package encoding/json. If it is nil, the report shows the text that
	// the model got as the question, since a Trajectory does not contain the inputs.
	Inputs any

	// Secrets finds the secrets that the report must not contain. Nil means the predefined patterns of
	// [policy.NewSecrets].
	Secrets *policy.Secrets

	// Prices are the prices of models by name. Without prices, the report shows no costs.
	Prices map[string]models.Price

	// Currency is written before costs, such as "$".
	Currency string
}

// Write writes the report of a run to w. Nil options are the defaults. Errors are those of w, and of Inputs that have no
// JSON.
func Write(w io.Writer, t module.Trajectory, o *Options) error {
	b := newBuilder(o)
	p := page{Title: "Run of " + cmp.Or(t.Module, "several modules")}
	if t.Name != "" {
		p.Title = fmt.Sprintf("Run of %s (%s)", t.Name, t.Module)
	}
	p.Pills = b.runMarks(t)
	p.Facts = b.runFacts(t)
	if b.options.Inputs != nil {
		raw, err := json.Marshal(b.options.Inputs)
		if err != nil {
			return fmt.Errorf("report: Options.Inputs cannot be encoded as JSON: %w", err)
		}
		p.Question = b.fields(raw)
	} else {
		p.Question = b.asked(t)
	}
	p.Run = b.run(t, nil)
	p.Timeline = timelineOf(p.Run)
	p.Usage = b.usage("Usage", t.UsageByModel())
	return b.write(w, p)
}

// page is what the template shows.
type page struct {
	Title        string
	Style        template.CSS
	Hash         string
	Pills        []mark
	Facts        []fact
	Question     []field
	Run          *run
	Timeline     *timeline
	Evaluation   *evaluation
	Optimization *optimization
	Usage        []usageTable
}

// mark is a short remark. Its class is "good", "bad", "warn" or "note".
type mark struct{ Class, Text string }

type fact struct{ Name, Value string }

//go:embed page.html page.css
var assets embed.FS

var (
	layout = template.Must(template.New("page.html").Funcs(template.FuncMap{
		"time": duration, "plural": display.Plural, "size": sizeText,
	}).ParseFS(assets, "page.html"))
	style, _ = assets.ReadFile("page.css")
)

func (b *builder) write(w io.Writer, p page) error {
	p.Title = b.line(cmp.Or(b.options.Title, p.Title), 200)
	hash := sha256.Sum256(style)
	p.Style, p.Hash = template.CSS(style), base64.StdEncoding.EncodeToString(hash[:])
	if err := layout.Execute(w, p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// builder builds the contents of a page.
type builder struct {
	options Options
	left    int // bytes that values may still take
	runs    int // the number of runs so far, for anchors
	calls   int // the number of tool calls so far
}

// maxPage limits the bytes of all values in a page, so that a browser can show it at once.
const maxPage = 3 << 20

func newBuilder(o *Options) *builder {
	b := &builder{left: maxPage}
	if o != nil {
		b.options = *o
	}
	if b.options.Secrets == nil {
		b.options.Secrets, _ = policy.NewSecrets(policy.SecretOptions{}) // fails only because of options
	}
	return b
}

// usageTable is the usage of models.
type usageTable struct {
	Title string
	Costs bool // whether there are prices
	Rows  []usageRow
	Note  string
}

type usageRow struct {
	Model, Cost string
	event.Usage
}

// usage returns the usage as a table with at most one element, which has a row for each model and one for the total.
func (b *builder) usage(title string, u event.ModelUsage) []usageTable {
	if len(u) == 0 {
		return nil
	}
	t := usageTable{Title: title, Costs: len(b.options.Prices) > 0}
	sum, unpriced := 0.0, 0
	for _, name := range slices.Sorted(maps.Keys(u)) {
		row := usageRow{b.line(cmp.Or(name, "unknown model"), 100), "", u[name]}
		if price, ok := b.options.Prices[name]; ok {
			cost := costOf(price, u[name])
			row.Cost, sum = b.money(cost), sum+cost
		} else {
			unpriced += u[name].Calls
		}
		t.Rows = append(t.Rows, row)
	}
	if len(u) > 1 {
		t.Rows = append(t.Rows, usageRow{"Total", b.money(sum), u.Total()})
	}
	if t.Costs && unpriced > 0 {
		t.Note = "The cost leaves out " + display.Plural(unpriced, "call") + " of models without a price."
	}
	return []usageTable{t}
}

// costOf returns what the usage costs. Input that the provider wrote to its cache is not known, and counts as input.
func costOf(p models.Price, u event.Usage) float64 {
	return (float64(max(u.InputTokens-u.CachedTokens, 0))*p.Input +
		float64(u.CachedTokens)*cmp.Or(p.CachedInput, p.Input) + float64(u.OutputTokens)*p.Output) / 1e6
}

func (b *builder) money(amount float64) string {
	return fmt.Sprintf("%s%.4f", b.options.Currency, amount)
}

// totals returns the facts about the usage of models.
func (b *builder) totals(u event.ModelUsage) []fact {
	sum := u.Total()
	list := []fact{{"Model calls", fmt.Sprint(sum.Calls)},
		{"Tokens", fmt.Sprintf("%s in, %s out", count(sum.InputTokens), count(sum.OutputTokens))}}
	cost, priced := 0.0, false
	for name, one := range u {
		if price, ok := b.options.Prices[name]; ok {
			cost, priced = cost+costOf(price, one), true
		}
	}
	if priced {
		list = append(list, fact{"Cost", b.money(cost)})
	}
	return list
}
