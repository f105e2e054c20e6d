package replies

import (
	"slices"
	"strings"
)

// units are those of each kind of measure, a line for each unit, with the words that
// are used for it.
var units = map[string]string{
	"mass": `kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes
		g gr gram grams gramm gramme grammes gramos
		mg milligram milligrams
		mcg µg μg microgram micrograms
		lb lbs pound pounds
		oz ounce ounces
		t ton tons tonne tonnes tonnen`,
	"length": `km kms kilometer kilometers kilometre kilometres kilomètres kilómetros
		m meter meters metre metres mètres metros metern
		cm centimeter centimeters centimetre centimetres zentimeter
		mm millimeter millimeters millimetre millimetres
		mi mile miles
		ft foot feet
		in inch inches
		yd yard yards`,
	"time": `seconds second sec secs s sekunden secondes segundos
		minutes minute min mins minuten minutos
		hours hour h hr hrs stunden heures horas
		days day jours jour tage tagen tag días día giorni
		weeks week wochen woche semaines semaine semanas
		months month monate monaten mois meses
		years year yrs yr jahre jahren ans années años
		ms millisecond milliseconds`,
	"temperature": `celsius °c c
		fahrenheit °f f
		kelvin
		° degrees degree grad`,
	"volume": `l liter liters litre litres litros
		ml milliliter milliliters millilitre millilitres
		cl
		dl
		gal gallon gallons
		pint pints
		cup cups
		tbsp tablespoon tablespoons
		tsp teaspoon teaspoons
		m³ m3`,
	"area": `m² sqm
		km²
		ft² sqft
		ha hectare hectares hektar
		acre acres`,
	"speed": `km/h kph kmh
		mph
		m/s
		knots kn`,
	"energy": `kcal
		kj
		kwh
		j joules
		calories`,
	"power":   "w watts\nkw kilowatts\nhp",
	"data":    "bytes\nkb\nmb\ngb\ntb",
	"percent": "percent pct % percentage prozent",
}

// measuredBy are kinds of measures by names of fields.
var measuredBy = map[string]string{
	"weight": "mass", "mass": "mass", "load": "mass", "dose": "mass", "dosage": "mass",
	"height": "length", "width": "length", "length": "length", "depth": "length", "distance": "length", "thickness": "length",
	"diameter": "length", "radius": "length", "elevation": "length", "altitude": "length", "rainfall": "length", "range": "length",
	"duration": "time", "time": "time", "delay": "time", "lifetime": "time", "age": "time",
	"temperature": "temperature", "temp": "temperature",
	"volume": "volume", "capacity": "volume", "area": "area", "speed": "speed", "velocity": "speed",
	"energy": "energy", "calories": "energy", "power": "power", "memory": "data", "storage": "data",
}

// imperial are units of those who write a comma before thousands.
var imperial = wordSet("lb lbs pound pounds oz ounce ounces ft foot feet in inch inches mi mile miles yd yard yards gal gallon gallons acre acres mph °f")

type namedUnit struct {
	kind     string
	synonyms []string
}

var unitNames = func() map[string]namedUnit {
	names := map[string]namedUnit{}
	for kind, lines := range units {
		for line := range strings.SplitSeq(lines, "\n") {
			synonyms := strings.Fields(line)
			for _, name := range synonyms {
				names[name] = namedUnit{kind, synonyms}
			}
		}
	}
	return names
}()

// unitPhrases are units of several words or signs.
var unitPhrases = strings.NewReplacer("square meters", "m²", "square metres", "m²", "sq m", "m²", "m2", "m²", "km2", "km²", "m3", "m³", "cubic meters", "m³",
	"square feet", "ft²", "sq ft", "ft²", "degrees celsius", "°c", "degrees fahrenheit", "°f", "° c", "°c", "-year-old", "years", "euro cents", "cents")

// unitOf returns the words for a unit, and what it measures.
func unitOf(word string) (synonyms []string, kind string) {
	u := unitNames[strings.ToLower(word)]
	return u.synonyms, u.kind
}

func unitSynonyms(word string) []string { return slices.Clone(unitNames[word].synonyms) }
