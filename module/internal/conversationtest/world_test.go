package conversationtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// entities has a line for each kind of record: the server, the name in the singular and in the
// plural, the prefix of IDs, the number of records, and the fields. The text after the name of a
// field describes its values: one of a|b, a number in 1..9, the ID of an @entity, or a name, place
// or date.
const entities = `
fleet vehicle vehicles V 64 model:Caddy|Transit|Sprinter depot_id:@depot driver_id:@driver status:active|active|repair|retired mileage_km:1000..250000
fleet driver drivers D 40 employee_id:@employee license:B|C1|C status:active|suspended
fleet depot depots P 6 name:place building_id:@building capacity:5..30
fleet trip trips T 120 vehicle_id:@vehicle driver_id:@driver distance_km:2..400 date:date
fleet fuel_log fuel_logs F 90 vehicle_id:@vehicle liters:10..90 cost_cents:2000..16000 date:date
fleet fine fines X 35 vehicle_id:@vehicle amount_cents:2000..60000 status:open|paid date:date
fleet inspection inspections N 30 vehicle_id:@vehicle kind:safety|emission result:passed|failed|planned date:date
fleet tire_set tire_sets Y 40 vehicle_id:@vehicle season:summer|winter depth_tenths_mm:10..90
fleet route routes R 25 name:place depot_id:@depot stops:3..40
fleet tracker trackers K 50 vehicle_id:@vehicle status:online|offline battery_percent:1..100
facilities building buildings B 12 name:place city:Malmö|Lund|Ystad|Kalmar area_m2:200..9000
facilities room rooms M 80 building_id:@building name:place floor:0..9 capacity:2..60
facilities booking bookings G 70 room_id:@room employee_id:@employee date:date status:confirmed|requested|cancelled
facilities pool pools O 5 building_id:@building length_m:12..50 temperature_c:22..31
facilities elevator elevators E 18 building_id:@building status:running|stopped|inspection max_kg:300..1600
facilities alarm alarms A 45 building_id:@building kind:fire|intrusion|water status:open|closed date:date
facilities meter meters Q 30 building_id:@building kind:power|water|heat reading:100..99999
facilities work_order work_orders W 60 building_id:@building priority:low|normal|high status:open|closed|closed hours:1..40
facilities key_card key_cards C 55 employee_id:@employee building_id:@building status:active|blocked
facilities contract contracts U 15 building_id:@building supplier_id:@supplier yearly_cents:100000..9000000
erp invoice invoices INV 90 customer_id:@customer amount_cents:5000..900000 status:open|paid|closed due:date
erp payment payments PAY 80 invoice_id:@invoice amount_cents:5000..900000 date:date
erp supplier suppliers SUP 14 name:place country:SE|DK|DE|PL rating:1..5
erp purchase_order purchase_orders PO 75 supplier_id:@supplier amount_cents:10000..800000 status:draft|sent|received|closed date:date
erp item items I 60 name:place stock:0..500 minimum:10..80 price_cents:100..90000
erp stock_move stock_moves SM 100 item_id:@item quantity:1..60 direction:in|out date:date
erp warehouse warehouses WH 5 name:place building_id:@building capacity:100..5000
erp price_list price_lists PL 8 name:place currency:SEK|EUR|DKK status:draft|active
erp credit_note credit_notes CN 25 invoice_id:@invoice amount_cents:1000..90000 reason:damaged|late|other
erp budget budgets BG 12 department_id:@department year:2024..2026 amount_cents:1000000..90000000
office employee employees EMP 70 name:name department_id:@department city:Malmö|Lund|Ystad|Kalmar hired:date
office department departments DEP 8 name:place manager_id:@employee
office absence absences AB 50 employee_id:@employee kind:vacation|sick|parental days:1..20 date:date
office customer customers CUS 45 name:name segment:gold|silver|bronze city:Malmö|Lund|Ystad|Kalmar
office contact contacts CON 60 customer_id:@customer name:name role:buyer|owner|accounting
office deal deals DL 40 customer_id:@customer value_cents:50000..5000000 stage:lead|offer|won|lost
office ticket tickets TK 65 customer_id:@customer priority:low|normal|high status:open|waiting|closed date:date
office page pages PG 30 title:place author_id:@employee tag:howto|policy|outdated words:100..4000
office comment comments CM 80 page_id:@page author_id:@employee votes:0..30
office survey surveys SV 10 title:place department_id:@department answers:5..60
`

// more has names of further kinds of records, for larger worlds.
const more = `badge beacon bin cabinet camera catalog certificate channel charger claim course credential dataset
delivery desk device document door engine event exam feedback form gate goal grant incident insurance invite label
lease ledger license locker memo menu milestone newsletter notice offer package panel parcel parking permit phone
pipeline plan policy poll printer project prospect pump quote reminder rental request return review role rota
safe schedule sensor shift shipment site skill slot sponsor station subscription task tax team template terminal token
tool training valve vault vendor visit visitor voucher waiver`

// entity is a kind of record.
type entity struct {
	server, name, plural, prefix string
	rows                         int
	fields                       []field
}

type field struct{ name, holds string }

// value returns the value of a field. It depends only on the field and on chance.
func (f field) value(w *world, chance uint32) any {
	if low, high, ok := strings.Cut(f.holds, ".."); ok {
		a, _ := strconv.Atoi(low)
		b, _ := strconv.Atoi(high)
		return a + int(chance)%(b-a+1)
	}
	if of, ok := strings.CutPrefix(f.holds, "@"); ok {
		e := w.entity(of)
		return e.id(1 + int(chance)%e.rows)
	}
	switch f.holds {
	case "name":
		return pick(chance, "Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gry", "Hugo") + " " +
			pick(chance/8, "Berg", "Dahl", "Ek", "Falk", "Holm", "Lind", "Nyman")
	case "place":
		return pick(chance, "North", "South", "East", "West", "Old", "New") + " " +
			pick(chance/6, "Harbor", "Mill", "Station", "Garden", "Bridge", "Tower", "Square")
	case "date":
		return fmt.Sprintf("2025-%02d-%02d", 1+chance%12, 1+chance/12%28)
	}
	return pick(chance, strings.Split(f.holds, "|")...)
}

func pick(chance uint32, from ...string) string { return from[int(chance)%len(from)] }

func (e *entity) id(i int) string { return fmt.Sprintf("%s-%03d", e.prefix, i) }

// record has the ID and the other fields of an object.
type record map[string]any

// line returns a record on one line, which is what some servers return.
func (e *entity) line(r record) string {
	parts := []string{r.str("id")}
	for _, f := range e.fields {
		parts = append(parts, fmt.Sprint(r[f.name]))
	}
	return strings.Join(parts, " | ")
}

func (r record) str(field string) string { s, _ := r[field].(string); return s }
func (r record) num(field string) int    { n, _ := r[field].(int); return n }

// world holds records of all kinds.
type world struct {
	mu       sync.Mutex
	entities []*entity
	records  map[string][]record // by entity
	called   map[string]int      // calls that changed something
}

// newWorld returns a world with the kinds of records above and a number of further ones for each
// server.
func newWorld(further int) *world {
	w := &world{records: map[string][]record{}, called: map[string]int{}}
	for line := range strings.Lines(strings.TrimSpace(entities)) {
		parts := strings.Fields(line)
		rows, _ := strconv.Atoi(parts[4])
		e := &entity{server: parts[0], name: parts[1], plural: parts[2], prefix: parts[3], rows: rows}
		for _, f := range parts[5:] {
			name, holds, _ := strings.Cut(f, ":")
			e.fields = append(e.fields, field{name, holds})
		}
		w.entities = append(w.entities, e)
	}
	for i, name := range strings.Fields(more)[:4*further] {
		w.entities = append(w.entities, &entity{
			server: []string{"fleet", "facilities", "erp", "office"}[i%4], name: name, plural: name + "s",
			prefix: strings.ToUpper(name), rows: 10,
			fields: []field{{"name", "place"}, {"owner_id", "@employee"}, {"status", "open|closed"}, {"value", "1..100"}},
		})
	}
	for _, e := range w.entities {
		for i := 1; i <= e.rows; i++ {
			r := record{"id": e.id(i)}
			for _, f := range e.fields {
				h := fnv.New32a()
				fmt.Fprint(h, e.name, i, f.name)
				r[f.name] = f.value(w, h.Sum32()>>3)
			}
			w.records[e.name] = append(w.records[e.name], r)
		}
	}
	return w
}

func (w *world) entity(name string) *entity {
	i := slices.IndexFunc(w.entities, func(e *entity) bool { return e.name == name })
	return w.entities[i]
}

// all returns the records of a kind that keep accepts.
func (w *world) all(entity string, keep func(record) bool) []record {
	return where(w.records[entity], keep)
}

// get returns the record with an ID.
func (w *world) get(entity, id string) record {
	for _, r := range w.records[entity] {
		if r["id"] == id {
			return r
		}
	}
	return nil
}

// effects lists the calls that changed something since its last call.
func (w *world) effects() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := counts(w.called)
	w.called = map[string]int{}
	return list
}

func marshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: records are text and numbers
	}
	return raw
}
