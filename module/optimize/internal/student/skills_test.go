package student

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

var months = strings.Fields("January February March April May June July August September October November December")

func date(alone float64) Skill {
	parts := func(v string) (day, month int, year string) {
		f := strings.Fields(v)
		day, _ = strconv.Atoi(f[0])
		for i, m := range months {
			if m == f[1] {
				month = i + 1
			}
		}
		return day, month, f[2]
	}
	return Skill{
		Kind: "date", Form: `\d+ [A-Z]\w+ \d{4}`,
		Rule: "Write each date in ISO form, with the year first.", Keys: []string{"date", "iso"}, Alone: alone,
		Make: func(r *rand.Rand) string {
			return fmt.Sprintf("%d %s %d", 1+r.IntN(28), months[r.IntN(12)], 1990+r.IntN(40))
		},
		Right: func(v string) string {
			day, month, year := parts(v)
			return fmt.Sprintf("%s-%02d-%02d", year, month, day)
		},
		Wrong: func(v string) string {
			day, month, year := parts(v)
			return fmt.Sprintf("%02d/%02d/%s", month, day, year)
		},
	}
}

func price(alone float64) Skill {
	return Skill{
		Kind: "price", Form: `\d+\.\d [A-Z]{3}`,
		Rule: "Write each price with the currency first and two decimals.",
		Keys: []string{"price", "currency first"}, Alone: alone,
		Make: func(r *rand.Rand) string {
			return fmt.Sprintf("%d.%d %s", 1+r.IntN(400), 1+r.IntN(9), pick(r, "EUR USD GBP"))
		},
		Right: func(v string) string {
			amount, currency, _ := strings.Cut(v, " ")
			return currency + " " + amount + "0"
		},
		Wrong: func(v string) string { return strings.ReplaceAll(v, " ", "") },
	}
}

func name(alone float64) Skill {
	return Skill{
		Kind: "name", Form: `[A-Z]\w+ [A-Z]\w+`,
		Rule: "Write each name with the family name first, in capital letters.",
		Keys: []string{"family name", "capital"}, Alone: alone,
		Make: func(r *rand.Rand) string {
			return pick(r, "Ada Grace Alan Edsger Barbara Donald Frances Niklaus") + " " +
				pick(r, "Lovelace Hopper Turing Dijkstra Liskov Knuth Allen Wirth Perlis Backus Naur Hoare")
		},
		Right: func(v string) string {
			given, family, _ := strings.Cut(v, " ")
			return strings.ToUpper(family) + ", " + given
		},
		Wrong: func(v string) string { return v },
	}
}

func phone(alone float64) Skill {
	return Skill{
		Kind: "phone", Form: `0\d+ \d+`,
		Rule: "Write each phone number with the country code of Germany.",
		Keys: []string{"phone", "country code"}, Alone: alone,
		Make: func(r *rand.Rand) string { return fmt.Sprintf("0%d %d", 30+r.IntN(60), 100000+r.IntN(900000)) },
		Right: func(v string) string {
			return "+49" + strings.ReplaceAll(v[1:], " ", "")
		},
		Wrong: func(v string) string { return strings.ReplaceAll(v, " ", "") },
	}
}

func size(alone float64) Skill {
	return Skill{
		Kind: "size", Form: `\d+ cm`,
		Rule: "Write each size in meters.", Keys: []string{"size", "meters"}, Alone: alone,
		Make: func(r *rand.Rand) string { return fmt.Sprintf("%d cm", 101+r.IntN(800)) },
		Right: func(v string) string {
			cm := strings.TrimSuffix(v, " cm")
			return cm[:1] + "." + cm[1:] + " m"
		},
		Wrong: func(v string) string { return v },
	}
}

func flag(alone float64) Skill {
	return Skill{
		Kind: "paid", Form: `(yes|no) in \d{4}`,
		Rule: "Write whether it is paid as one letter, Y or N, and the year.",
		Keys: []string{"paid", "letter"}, Alone: alone,
		Make: func(r *rand.Rand) string { return fmt.Sprintf("%s in %d", pick(r, "yes no"), 1990+r.IntN(40)) },
		Right: func(v string) string {
			return strings.ToUpper(v[:1]) + v[strings.LastIndex(v, " ")+1:]
		},
		Wrong: func(v string) string { return v },
	}
}

func city(alone float64) Skill {
	return Skill{
		Kind: "city", Form: `[A-Z]\w+, [A-Z]{2}`,
		Rule: "Write each city in lower case, with its country in brackets.",
		Keys: []string{"city", "lower case"}, Alone: alone,
		Make: func(r *rand.Rand) string {
			return pick(r, "Oslo Bergen Lyon Paris Porto Turin Ghent Kyoto Lima Quito") + ", " +
				pick(r, "NO FR PT IT BE JP PE EC")
		},
		Right: func(v string) string {
			town, country, _ := strings.Cut(v, ", ")
			return strings.ToLower(town) + " (" + country + ")"
		},
		Wrong: func(v string) string { return v },
	}
}

func level(alone float64) Skill {
	return Skill{
		Kind: "level", Form: `\d\d%`,
		Rule: "Write each level as a fraction of 100 with two decimals.",
		Keys: []string{"level", "fraction"}, Alone: alone,
		Make:  func(r *rand.Rand) string { return fmt.Sprintf("%d%%", 10+r.IntN(90)) },
		Right: func(v string) string { return "0." + strings.TrimSuffix(v, "%") },
		Wrong: func(v string) string { return v },
	}
}

func part(alone float64) Skill {
	return Skill{
		Kind: "part", Form: `\d{6}`,
		Rule: "Write each part number in groups of two digits.",
		Keys: []string{"part", "groups of two"}, Alone: alone,
		Make:  func(r *rand.Rand) string { return strconv.Itoa(100000 + r.IntN(900000)) },
		Right: func(v string) string { return v[:2] + "-" + v[2:4] + "-" + v[4:] },
		Wrong: func(v string) string { return v },
	}
}

// label puts a code before a value that has already been converted.
func label(kind, code string, alone float64) Skill {
	return Skill{
		Kind: kind, Form: `[^;"<\n]+`,
		Rule: fmt.Sprintf("Put the code %s before the %s.", code, kind),
		Keys: []string{"code " + strings.ToLower(code)}, Alone: alone,
		Right: func(v string) string { return code + " " + v },
		Wrong: func(v string) string { return strings.ToUpper(kind) + " " + v },
	}
}

// product is multiplication by heart; nothing in a prompt makes it better.
func product(kind string, alone float64) Skill {
	factors := func(v string) (a, b int) {
		_, _ = fmt.Sscanf(v, "%d by %d", &a, &b)
		return a, b
	}
	return Skill{
		Kind: kind, Form: `\d+ by \d+`,
		Rule: "The " + kind + " must be computed correctly.", Alone: alone,
		Make: func(r *rand.Rand) string { return fmt.Sprintf("%d by %d", 12+r.IntN(80), 12+r.IntN(80)) },
		Right: func(v string) string {
			a, b := factors(v)
			return strconv.Itoa(a * b)
		},
		Wrong: func(v string) string {
			a, b := factors(v)
			return strconv.Itoa(a*b - 10)
		},
	}
}

func pick(r *rand.Rand, words string) string {
	all := strings.Fields(words)
	return all[r.IntN(len(all))]
}
