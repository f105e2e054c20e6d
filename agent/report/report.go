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

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/tools/policy"
)

// Options configures a report. The zero value, and nil, are the defaults.
type Options struct {
	// Title is the heading of the page. The default names the module, or the kind of report.
	Title string

	// Inputs is the question of a run, as a value for package encoding/json. If it is nil, the report shows the first
	// request to the model instead, since a Trajectory does not contain the inputs.
	Inputs any

	// Secrets finds the secrets that the report must not contain. Nil means the predefined patterns of
	// [policy.NewSecrets].
	Secrets *policy.Secrets

	// Prices are the prices of models by name. If it is empty, costs are not shown.
	Prices map[string]budget.Price
}

// Write writes the report of a run to w. Nil options are the defaults. Errors are those of w, and of encoding Inputs.
func Write(w io.Writer, t module.Trajectory, o *Options) error {
	b := newBuilder(o)
	p := page{Title: "Run of " + title(t), Usage: t.UsageByModel()}
	p.Facts = append(totals(t.Usage()), fact{"Duration", duration(t.Duration)})
	if b.Inputs != nil {
		raw, err := json.Marshal(b.Inputs)
		if err != nil {
			return fmt.Errorf("report: Options.Inputs cannot be encoded as JSON: %w", err)
		}
		p.Question = b.fields(raw)
	} else {
		p.Question = b.asked(t)
	}
	r := b.run(t)
	p.Run, p.Timeline = &r, timelineOf(&r)
	return b.write(w, p)
}

// page is what the template shows. Strings in it are shown with the function line.
type page struct {
	Title              string
	Facts              []fact
	Question           []field
	Run                *run
	Timeline           *timeline
	Evaluation         *evaluation
	Optimization       *optimization
	Usage, MetricUsage event.ModelUsage
}

// mark is a short remark. Its class is "good", "bad", "warn" or "note".
type mark struct{ Class, Text string }
type fact struct{ Name, Value string }

//go:embed page.html page.css
var assets embed.FS

var (
	layout   = template.Must(template.New("page.html").Funcs((&builder{}).funcs()).ParseFS(assets, "page.html"))
	style, _ = assets.ReadFile("page.css") // embedded
)

// builder prepares untrusted values for a page.
type builder struct {
	Options
	left int // bytes that values may still take
	// How many there are so far:
	runs, steps, calls, messages int
}

// maxPage limits the bytes of all values in a page, so that a browser can show it at once.
const maxPage = 3 << 20

func newBuilder(o *Options) *builder {
	b := &builder{left: maxPage}
	if o != nil {
		b.Options = *o
	}
	if b.Secrets == nil {
		b.Secrets, _ = policy.NewSecrets(policy.SecretOptions{}) // fails only because of options
	}
	return b
}

func (b *builder) write(w io.Writer, p page) error {
	p.Title = cmp.Or(b.Title, p.Title)
	l, err := layout.Clone()
	if err == nil {
		err = l.Funcs(b.funcs()).Execute(w, p)
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// funcs returns the functions of the template. All untrusted text goes through line, text, value, long, json or
// fields.
func (b *builder) funcs() template.FuncMap {
	hash := sha256.Sum256(style)
	return template.FuncMap{
		"line": b.line, "json": b.json, "fields": b.fields, "cost": b.cost,
		"priced": func() bool { return len(b.Prices) > 0 },
		"text":   func(text string) []span { return b.value(text, maxValue).Text },
		"value":  func(text string) value { return b.value(text, maxValue) },
		"long":   func(text string) value { return b.value(text, maxPrompt) },
		"time":   duration, "plural": display.Plural,
		"style": func() template.CSS { return template.CSS(style) },
		"hash":  func() string { return base64.StdEncoding.EncodeToString(hash[:]) },
	}
}

// cost returns what the usage of a model costs, or "" if its price is not known. Input that the provider wrote to its
// cache counts as other input.
func (b *builder) cost(name string, u event.Usage) string {
	p, ok := b.Prices[name]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.4f", (float64(max(u.InputTokens-u.CachedTokens, 0))*p.Input+
		float64(u.CachedTokens)*cmp.Or(p.CachedInput, p.Input)+float64(u.OutputTokens)*p.Output)/1e6)
}

// totals returns the facts about the usage of models.
func totals(u event.Usage) []fact {
	return []fact{{"Model calls", fmt.Sprint(u.Calls)},
		{"Tokens", fmt.Sprintf("%d in, %d out", u.InputTokens, u.OutputTokens)}}
}
