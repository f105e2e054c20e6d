package replies_test

import (
	"encoding/json"
	"maps"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

type someone struct {
	Name  string  `json:"name"`
	Age   int     `json:"age"`
	Email *string `json:"email,omitempty"`
}

// programSpec is the question for a program.
var programSpec = replies.ProgramSpec(specs["remark"])

// unseenKinds are the signatures of testdata/replies/unseen, by the name of the file.
var unseenKinds = map[string]*signature.Spec{
	"text": about[struct {
		Answer string `json:"answer"`
	}](),
	"essay": about[struct {
		Essay string `json:"essay"`
	}](),
	"int": about[struct {
		Count int `json:"count"`
	}](),
	"float": about[struct {
		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
	}](),
	"bool": about[struct {
		Safe bool `json:"safe"`
	}](),
	"enum": about[struct {
		Mood string `json:"mood" jsonschema:"enum=good,enum=bad,enum=mixed"`
	}](),
	"list": about[struct {
		Names []string `json:"names"`
	}](),
	"nested": about[struct {
		Person someone `json:"person"`
	}](),
	"people": about[struct {
		People []struct {
			Name string `json:"name"`
			Age  int    `json:"age"`
		} `json:"people"`
	}](),
	"optional": about[struct {
		Answer string  `json:"answer"`
		Note   *string `json:"note,omitempty"`
	}](),
	"date": about[struct {
		Day time.Time `json:"day"`
	}](),
	"two": about[struct {
		Mood  string  `json:"mood" jsonschema:"enum=good,enum=bad,enum=mixed"`
		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
	}](),
	"code": programSpec,
}

// unseenKinds2 are those of testdata/replies/unseen2.
var unseenKinds2 = map[string]*signature.Spec{
	"title": about[struct {
		Title string `json:"title"`
	}](),
	"poem": about[struct {
		Poem string `json:"poem"`
	}](),
	"year": about[struct {
		Year int `json:"year"`
	}](),
	"ratio": about[struct {
		Ratio float64 `json:"ratio" jsonschema:"minimum=0,maximum=1"`
	}](),
	"spam": about[struct {
		Spam bool `json:"spam"`
	}](),
	"priority": about[struct {
		Priority string `json:"priority" jsonschema:"enum=low,enum=normal,enum=urgent"`
	}](),
	"tags": about[struct {
		Tags []string `json:"tags"`
	}](),
	"address": about[struct {
		Address struct {
			Street string  `json:"street"`
			City   string  `json:"city"`
			Zip    *string `json:"zip,omitempty"`
		} `json:"address"`
	}](),
	"items": about[struct {
		Items []struct {
			SKU      string `json:"sku"`
			Quantity int    `json:"quantity"`
		} `json:"items"`
	}](),
	"remark": about[struct {
		Title  string  `json:"title"`
		Remark *string `json:"remark,omitempty"`
	}](),
	"at": about[struct {
		At time.Time `json:"at"`
	}](),
	"triage": about[struct {
		Priority string  `json:"priority" jsonschema:"enum=low,enum=normal,enum=urgent"`
		Hours    float64 `json:"hours" jsonschema:"minimum=0"`
	}](),
	"program": programSpec,
}

// unseenKinds3 are those of testdata/replies/unseen3.
var unseenKinds3 = map[string]*signature.Spec{
	"string": about[struct {
		Answer string `json:"answer"`
	}](),
	"int": about[struct {
		Answer int `json:"answer"`
	}](),
	"bool": about[struct {
		Answer bool `json:"answer"`
	}](),
	"float": about[struct {
		Answer string  `json:"answer"`
		Sure   float64 `json:"sure" jsonschema:"minimum=0,maximum=1"`
	}](),
	"enum": unseenKinds["enum"],
	"strings": about[struct {
		Tags []string `json:"tags"`
	}](),
	"struct": about[struct {
		Person struct {
			Name    string `json:"name"`
			Age     int    `json:"age"`
			Address struct {
				Street string `json:"street"`
				City   string `json:"city"`
			} `json:"address"`
		} `json:"person"`
	}](),
	"optional": unseenKinds["optional"],
	"code":     programSpec,
}

// unseenKinds4 are those of testdata/replies/unseen4, whose files have the name of a question
// and of the form that it was put in.
var unseenKinds4 = inBothForms(map[string]*signature.Spec{
	"sentiment": parsed(`review -> mood: Literal["positive","negative","mixed"], score: float(ge=0, le=1)`),
	"count":     parsed(`text -> people: int`),
	"spam":      parsed(`mail -> spam: bool, reason: str`),
	"tags":      parsed(`article -> tags: list[str]`),
	"person":    parsed(`letter -> person: dict[str, str], age: int`),
	"summary":   parsed(`minutes -> summary: str, next: list[str], deadline: str | None`),
	"answer":    parsed(`context: list[str], question -> answer: str`),
	"math":      parsed(`problem -> steps: str, result: float`),
	"extract":   parsed(`invoice -> items: list[dict[str, Any]], total: float, currency: Literal["EUR","USD","NOK"]`),
	"translate": parsed(`text, language -> translation: str, notes: str | None`),
	"sql":       parsed(`question, tables -> reasoning: str, sql: str`),
	"grade":     parsed(`essay, rubric -> grade: int(ge=1, le=6), strengths: list[str], weaknesses: list[str]`),
})

// unseenKinds5 are those of testdata/replies/unseen5, named in the same way.
var unseenKinds5 = inBothForms(map[string]*signature.Spec{
	"string":   parsed(`question -> answer: str`),
	"int":      parsed(`report -> visitors: int`),
	"float":    parsed(`offer -> price: float`),
	"bool":     parsed(`letter -> eligible: bool`),
	"enum":     parsed(`ticket -> status: Literal["open","in progress","closed","not planned"]`),
	"list":     parsed(`recipe -> ingredients: list[str]`),
	"nested":   parsed(`mail -> booking: {guest: str, room: {number: int, floor?: int, sea_view: bool}, nights: int}`),
	"optional": parsed(`mail -> name: str, phone?: str, seats?: int`),
	"code":     programSpec,
	"function": parsed(`task -> explanation: str, code: str`),
	"cot":      parsed(`problem -> reasoning: str, answer: int`),
	"mixed":    parsed(`paper -> reasoning: str, verdict: Literal["accept","reject"], score: int(ge=1, le=10), issues: list[str]`),
})

// unseenKinds6 are those of testdata/replies/unseen6, named in the same way.
var unseenKinds6 = inBothForms(map[string]*signature.Spec{
	"party":   parsed(`contract -> party: str`),
	"errors":  parsed(`log -> errors: int`),
	"total":   parsed(`invoice -> total: float`),
	"urgent":  parsed(`message -> urgent: bool`),
	"triage":  parsed(`complaint -> category: Literal["immediate","very urgent","standard","non_urgent"]`),
	"moves":   parsed(`game -> moves: list[str]`),
	"dish":    parsed(`recipe -> dish: {title: str, serves: int, oven?: {celsius: int, fan: bool}, vegan: bool}`),
	"patient": parsed(`note -> patient: str, dose?: float, allergy?: str, smoker?: bool`),
	"program": programSpec,
	"source":  parsed(`request -> language: Literal["go","python","sql"], source: str`),
	"ledger":  parsed(`invoice -> reasoning: str, currency: Literal["EUR","USD","GBP"], lines: list[{item: str, quantity: int}], paid: bool`),
	"signed":  parsed(`contract -> signed: date, expires: date | None`),
	"article": parsed(`notes -> headline: str, body: str, keywords: list[str]`),
	"rating":  parsed(`review -> summary: str, stars: int(ge=1, le=5), confidence: float(ge=0, le=1), recommend: bool`),
})

// unseenKinds7 are those of testdata/replies/unseen7, named in the same way.
var unseenKinds7 = inBothForms(map[string]*signature.Spec{
	"city":     parsed(`letter -> city: str`),
	"beds":     parsed(`listing -> beds: int`),
	"weight":   parsed(`label -> weight: float`),
	"vegan":    parsed(`menu -> vegan: bool`),
	"severity": parsed(`report -> severity: Literal["low","medium","high","critical"]`),
	"symptoms": parsed(`note -> symptoms: list[str]`),
	"flight":   parsed(`mail -> flight: {number: str, from: str, to: str, seat?: {row: int, letter: str}, delayed: bool}`),
	"contact":  parsed(`signature -> name: str, title?: str, extension?: int`),
	"verdict":  parsed(`claim, evidence -> reasoning: str, verdict: Literal["supported","refuted","not enough info"], confidence: float(ge=0, le=1)`),
	"script":   parsed(`task -> language: Literal["bash","python","javascript"], code: str`),
	"plan":     parsed(`goal -> steps: list[str], days: int(ge=1), risk: str | None`),
	"meeting":  parsed(`mail -> topic: str, day: date, attendees: list[str]`),
})

// unseenKinds8 are those of testdata/replies/unseen8, named in the same way.
var unseenKinds8 = inBothForms(map[string]*signature.Spec{
	"string":   parsed(`question -> answer: str`),
	"int":      parsed(`text -> count: int`),
	"float":    parsed(`text -> score: float(ge=0, le=1)`),
	"bool":     parsed(`text -> safe: bool`),
	"enum":     parsed(`text -> mood: Literal["happy","sad","neutral"]`),
	"strings":  parsed(`text -> tags: list[str]`),
	"nested":   parsed(`text -> person: {name: str, age: int, address: {street: str, city: str}}`),
	"optional": parsed(`text -> answer: str, note?: str, year?: int`),
	"code":     parsed(`task -> code: str`),
	"structs":  parsed(`text -> items: list[{name: str, price: float, quantity: int}]`),
	"two":      parsed(`question -> reasoning: str, answer: int`),
	"pair":     parsed(`text -> title: str, rating: int(ge=1, le=5)`),
})

// unseenKinds9 are those of testdata/replies/unseen9, named in the same way.
var unseenKinds9 = inBothForms(map[string]*signature.Spec{
	"river":   parsed(`text -> river: str`),
	"goals":   parsed(`report -> goals: int`),
	"price":   parsed(`ad -> price: float`),
	"refund":  parsed(`mail -> refund: bool`),
	"level":   parsed(`log -> level: Literal["debug","info","warning","error"]`),
	"authors": parsed(`page -> authors: list[str]`),
	"event":   parsed(`flyer -> event: {title: str, place: str, seats?: int, free: bool}`),
	"person":  parsed(`text -> name: str, born?: int, nickname?: str`),
	"snippet": parsed(`task -> code: str`),
	"cart":    parsed(`chat -> items: list[{name: str, quantity: int}]`),
	"answer":  parsed(`question -> reasoning: str, answer: float`),
	"review":  parsed(`review -> summary: str, stars: int(ge=1, le=5), date: date`),
})

// unseenKinds10 are those of testdata/replies/unseen10, named in the same way.
var unseenKinds10 = inBothForms(map[string]*signature.Spec{
	"headline": parsed(`article -> headline: str`),
	"rooms":    parsed(`listing -> rooms: int`),
	"share":    parsed(`report -> share: float(ge=0, le=1)`),
	"toxic":    parsed(`comment -> toxic: bool`),
	"urgency":  parsed(`ticket -> urgency: Literal["low","normal","high"]`),
	"keywords": parsed(`text -> keywords: list[str]`),
	"invoice":  parsed(`mail -> invoice: {number: str, amount: float, due?: date, paid: bool}`),
	"book":     parsed(`text -> title: str, author?: str, year?: int`),
	"query":    parsed(`question -> sql: str`),
	"tasks":    parsed(`minutes -> tasks: list[{who: str, what: str}]`),
	"math":     parsed(`problem -> reasoning: str, answer: int`),
	"product":  parsed(`review -> product: str, rating: int(ge=1, le=10), pros: list[str]`),
})

func parsed(fields string) *signature.Spec {
	sig := signature.Must(signature.Parse(fields, ""))
	decoders.Store(sig.Spec(), decoder(func(raw json.RawMessage) error { _, err := sig.Decode(raw); return err }))
	return sig.Spec()
}

func inBothForms(specs map[string]*signature.Spec) map[string]*signature.Spec {
	kinds := map[string]*signature.Spec{}
	for name, spec := range specs {
		kinds[name+".markers"], kinds[name+".json"] = spec, spec
	}
	return kinds
}

// neighbourKinds are those of testdata/replies/neighbours.
var neighbourKinds = func() map[string]*signature.Spec {
	kinds := maps.Clone(unseenKinds3)
	kinds["spam"] = unseenKinds2["spam"]
	kinds["count"] = unseenKinds["int"]
	kinds["names"] = unseenKinds["list"]
	kinds["issues"] = parsed(`text -> issues: list[str]`)
	for name, of := range map[string]string{"visitors": "int", "price": "float", "eligible": "bool", "status": "enum", "ingredients": "list", "phone": "optional", "steps": "cot", "review": "mixed", "function": "function"} {
		kinds[name] = unseenKinds5[of+".markers"]
	}
	for _, of := range []string{"signed", "errors", "total", "party", "dish", "patient", "ledger", "article", "rating", "triage", "urgent"} {
		kinds[of] = unseenKinds6[of+".markers"]
	}
	for _, of := range []string{"string", "int", "bool", "enum", "two", "structs", "optional", "strings", "nested", "code"} {
		kinds["structure-"+of] = unseenKinds8[of+".markers"]
	}
	for _, of := range []string{"weight", "plan", "contact", "flight"} {
		kinds["structure-"+of] = unseenKinds7[of+".markers"]
	}
	for name, fields := range map[string]string{
		"structure2-passengers": `report -> passengers: int`,
		"structure2-fee":        `letter -> fee: float`,
		"structure2-approved":   `mail -> approved: bool`,
		"structure2-tone":       `mail -> tone: Literal["friendly","neutral","hostile"]`,
		"structure2-hotel":      `mail -> hotel: {name: str, nights: int, breakfast: bool, phone?: str}`,
		"structure2-cities":     `plan -> cities: list[str]`,
		"structure2-orders":     `mail -> orders: list[{product: str, amount: int}]`,
		"structure2-delivery":   `mail -> customer: str, delivery: date, note?: str`,
		"structure3-author":     `review -> author: str`,
		"structure3-floors":     `article -> floors: int`,
		"structure3-risk":       `letter -> risk: Literal["low","medium","high"]`,
		"structure3-paid":       `account -> paid: bool`,
		"structure4-museum":     `text -> visitors: int, city: str`,
		"structure4-ticket":     `mail -> queue: Literal["sales","support","billing"], due: date, angry: bool`,
		"structure3-trip":       `mail -> trip: {from: str, to: str, day: date}`,
	} {
		kinds[name] = parsed(fields)
	}
	for name, of := range map[string]string{"beds": "beds", "weight": "weight", "vegan": "vegan", "severity": "severity", "symptoms": "symptoms", "city": "city", "attendees": "meeting", "day": "meeting", "extension": "contact"} {
		kinds["values-"+name] = unseenKinds7[of+".markers"]
	}
	for name, of := range map[string]string{"count": "int", "score": "float", "mood": "enum", "rating": "pair", "tags": "strings", "year": "optional"} {
		kinds["values-"+name] = unseenKinds8[of+".markers"]
	}
	for name, fields := range map[string]string{
		"fare": `ticket -> fare: float`, "guests": `mail -> guests: int`, "cancelled": `mail -> cancelled: bool`,
		"size": `text -> size: Literal["small","medium","large"]`, "languages": `text -> languages: list[str]`, "departure": `ticket -> departure: date`,
		"founded": `text -> artist: str, album?: str, founded?: int`, "sum": `question -> reasoning: str, answer: float`, "order": `chat -> items: list[{name: str, quantity: int}]`,
	} {
		kinds["values2-"+name] = parsed(fields)
	}
	for name, fields := range map[string]string{
		"weightKg": `label -> weightKg: float`, "distance_km": `route -> distance_km: float`, "tempC": `log -> tempC: float`, "sizeMB": `log -> sizeMB: float`,
		"price_eur": `ad -> price_eur: float`, "priceCents": `ad -> priceCents: int`, "salary_k": `ad -> salary_k: float`, "delay_ms": `log -> delay_ms: int`,
		"probability": `report -> probability: float`, "price_per_kg": `ad -> price_per_kg: float`, "area_m2": `ad -> area_m2: float`, "parcel": `label -> parcel: {weightKg: float, name: str}`, "weights_kg": `label -> weights_kg: list[float]`,
	} {
		kinds["units-"+name] = parsed(fields)
	}
	kinds["units-wait"] = about[struct {
		Wait time.Duration `json:"wait" jsonschema:"description=how long to wait"`
	}]()
	kinds["units-waits"] = about[struct {
		Waits []time.Duration `json:"waits"`
	}]()
	kinds["units-step"] = about[struct {
		Step struct {
			Name    string         `json:"name"`
			Timeout *time.Duration `json:"timeout"`
		} `json:"step"`
	}]()
	kinds["units-jobs"] = about[struct {
		Jobs []struct {
			Name  string        `json:"name"`
			Every time.Duration `json:"every"`
		} `json:"jobs"`
	}]()
	kinds["units-limits"] = about[struct {
		Timeout  time.Duration `json:"timeout"`
		Interval time.Duration `json:"interval"`
		Why      string        `json:"why"`
	}]()
	kinds["anything"] = about[struct {
		Anything any `json:"anything"`
	}]()
	for name, fields := range map[string]string{
		"rent": `ad -> rent: float`, "deaths": `report -> deaths: int`, "insured": `claim -> insured: bool`,
		"colour": `text -> colour: Literal["red","green","blue"]`, "until": `ticket -> until: date`,
	} {
		kinds["values2b-"+name] = parsed(fields)
	}
	return kinds
}()

// unseen is a reply of testdata/replies/unseen.
type unseen struct {
	kind, name string
	spec       *signature.Spec
	verdict    string // correct, error or either
	want       string // the object, if the verdict is not error
	reply      string
	truncated  bool
}

// unseenReplies reads testdata/replies/unseen. The name of a section ends with the verdict
// of a careful reader, who may find a reading and an error as good as each other.
func unseenReplies(t *testing.T, folder string, kinds map[string]*signature.Spec) (all []unseen) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "replies", folder, "*.txtar"))
	if err != nil || len(files) != len(kinds) {
		t.Fatal(err, len(files), "files")
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			u := unseen{kind: strings.TrimSuffix(filepath.Base(file), ".txtar")}
			u.spec = kinds[u.kind]
			u.name, u.truncated = strings.CutSuffix(f.Name, " truncated")
			u.verdict = u.name[strings.LastIndexByte(u.name, ' ')+1:]
			var ok bool
			if u.want, u.reply, ok = strings.Cut(string(f.Data), "\n----\n"); !ok {
				t.Fatalf("%s: %s has no line of ----", file, f.Name)
			}
			u.reply = strings.TrimSuffix(u.reply, "\n")
			all = append(all, u)
		}
	}
	return all
}

// read is what the readers make of it: those of programs, if that is asked for.
func (u unseen) read(a module.Adapter) (object, why string) {
	if u.spec == programSpec {
		p, err := replies.ReadProgram(u.reply, u.truncated, replies.Markers)
		if err != nil {
			return "", err.Error()
		}
		raw, _ := json.Marshal(map[string]string{"code": p.Code})
		return string(raw), ""
	}
	values, err := a.Read(u.spec, u.reply, u.truncated)
	if err != nil {
		return "", err.Error()
	}
	raw, err := values.MarshalJSON()
	if err != nil {
		return "", err.Error()
	}
	if err := decode(u.spec, raw); err != nil {
		return "", "not valid: " + err.Error()
	}
	return string(raw), ""
}

func (u unseen) judge(a module.Adapter) (score, string) {
	got, why := u.read(a)
	same := u.verdict != "error" && got != "" && meaning(u.kind, got) == meaning(u.kind, u.want)
	switch {
	case same:
		return score{right: 1}, got
	case got != "":
		return score{wrong: 1}, got
	case u.verdict == "correct":
		return score{missed: 1}, why
	}
	return score{refused: 1}, why
}

// meaning is an object without what its writing does not tell: blanks around
// texts, ends of lines, how numbers and moments are written, nulls.
func meaning(kind, object string) string {
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return object
	}
	if name, _, _ := strings.Cut(kind, "."); name == "code" || name == "program" {
		delete(all, "reasoning")
	}
	for _, name := range []string{"day", "at", "date", "delivery", "departure", "until"} {
		if day, ok := all[name].(string); ok {
			all[name] = instant(day)
		}
	}
	raw, _ := json.Marshal(plain(all))
	return string(raw)
}

func instant(text string) string {
	text = strings.ToUpper(strings.Replace(text, " ", "T", 1))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format(time.RFC3339Nano)
		}
	}
	return text
}

func plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(strings.ReplaceAll(v, "\r\n", "\n"))
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return r.RatString()
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name, inner := range v {
			if v[name] = plain(inner); inner == nil {
				delete(v, name)
			}
		}
	}
	return v
}

// TestUnseenReplies reads the replies that were written by others, who had not seen
// the readers; docs/measured/replies-unseen.md has their scores as found. The
// readers were mended by each set before the next was written, and by the last
// since. Those of testdata/replies/neighbours differ by little from what is read, and were
// written to have the readers read them wrongly.
func TestUnseenReplies(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long, and is not run with -short")
	}
	for _, set := range []struct {
		folder string
		kinds  map[string]*signature.Spec
		wrong  int     // that are known
		share  float64 // of what a careful reader could use
	}{{"unseen", unseenKinds, 0, 0.95}, {"unseen2", unseenKinds2, 0, 0.95}, {"unseen3", unseenKinds3, 0, 0.95}, {"unseen4", unseenKinds4, 0, 0.95}, {"unseen5", unseenKinds5, 0, 0.95}, {"unseen6", unseenKinds6, 0, 0.95}, {"unseen7", unseenKinds7, 0, 0.95}, {"unseen8", unseenKinds8, 0, 0.95}, {"unseen9", unseenKinds9, 0, 0.95}, {"unseen10", unseenKinds10, 0, 0.95}, {"neighbours", neighbourKinds, 0, 0.95}} {
		for _, a := range adapters {
			t.Run(set.folder+" "+a.name, func(t *testing.T) {
				total := readUnseen(t, a, unseenReplies(t, set.folder, set.kinds))
				if total.wrong > set.wrong || total.share() < set.share {
					t.Errorf("%.1f%% of what a careful reader could use was read: %+v", 100*total.share(), total)
				}
			})
		}
	}
}

func readUnseen(t *testing.T, a module.Adapter, replies []unseen) score {
	byKind := map[string]*score{}
	for _, u := range replies {
		result, got := u.judge(a)
		count(byKind, u.kind, result)
		count(byKind, "all", result)
		if result.wrong > 0 {
			t.Logf("silently wrong: %s, %s: read as %s, want %s:\n%s\n", u.kind, u.name, got, u.want, u.reply)
		}
		if result.missed > 0 {
			t.Logf("not read: %s, %s: %s; want %s:\n%s\n", u.kind, u.name, got, u.want, u.reply)
		}
	}
	t.Logf("\n%s", rows("asked for", byKind))
	return *byKind["all"]
}
