package vm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// localDate formats a date according to the options, by default as 3/9/2025, 8:05:00 AM. It writes an ordinary space
// before AM, where some engines write a narrow space.
func (r *machine) localDate(method string, c goja.FunctionCall, date, clock bool) string {
	object, ok := c.This.(*goja.Object)
	if !ok || object.ClassName() != "Date" {
		panic(r.typeError("this is not a Date object."))
	}
	r.checkLocale(method, c.Argument(0))
	options, _ := c.Argument(1).(*goja.Object)
	asked := r.dateOptions(method, options)
	at, ok := object.Export().(time.Time)
	if !ok || math.IsNaN(object.ToFloat()) {
		return "Invalid Date"
	}
	if asked["timeZone"] != "" {
		at = at.UTC()
	}
	if days, times := dateLayout(asked), timeLayout(asked); days+times != "" {
		if days == "" && date && !clock { // only the time has options: add the date
			days = "1/2/2006"
		}
		if times == "" && clock && !date {
			times = "3:04:05 PM"
		}
		between := ", "
		if strings.Contains(days, "January") {
			between = " at "
		}
		return at.Format(joined(between, days, times))
	}
	switch {
	case date && clock:
		return at.Format("1/2/2006, 3:04:05 PM")
	case date:
		return at.Format("1/2/2006")
	}
	return at.Format("3:04:05 PM")
}

// layouts are package time's layouts for each option's values.
var layouts = map[string]map[string]string{
	"weekday": {"long": "Monday", "short": "Mon"},
	"year":    {"numeric": "2006", "2-digit": "06"},
	"month":   {"long": "January", "short": "Jan", "numeric": "1", "2-digit": "01"},
	"day":     {"numeric": "2", "2-digit": "02"},
	"hour":    {"numeric": "3", "2-digit": "03"},
	"minute":  {"numeric": "04", "2-digit": "04"},
	"second":  {"numeric": "05", "2-digit": "05"},
}

// dateOptions returns the layouts for the options. It throws if they are not supported.
func (r *machine) dateOptions(method string, options *goja.Object) map[string]string {
	if options == nil {
		return nil
	}
	asked := map[string]string{}
	for _, key := range options.Keys() {
		value := r.option(options, key, "")
		layout := layouts[key][value]
		switch {
		case value == "":
		case key == "timeZone" && value == "UTC", key == "hour12" && value == "true":
			asked[key] = value
		case layout == "":
			r.refuseLocale(fmt.Sprintf("%s does not support the option %s: %s", method, key, value))
		default:
			asked[key] = layout
		}
	}
	if parts := partsOf(asked); !usual[parts] {
		r.refuseLocale(fmt.Sprintf("%s does not support %s together", method, parts))
	}
	return asked
}

// usual has the supported combinations of date parts.
var usual = map[string]bool{
	"": true, "weekday": true, "year": true, "month": true, "day": true, "month, day": true, "year, month": true,
	"year, month, day": true, "weekday, month, day": true, "weekday, year, month, day": true,
}

var usualTimes = map[string]bool{"": true, "hour": true, "hour, minute": true, "hour, minute, second": true}

// partsOf lists the requested parts of the date or, if their combination of time parts is not supported, the requested
// parts of the time.
func partsOf(asked map[string]string) string {
	if times := named(asked, "hour", "minute", "second"); !usualTimes[times] {
		return times
	}
	return named(asked, "weekday", "year", "month", "day")
}

func named(asked map[string]string, names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return asked[name] == "" }), ", ")
}

// dateLayout returns a layout such as Monday, January 2, 2006, or 1/2/2006 for numeric months.
func dateLayout(asked map[string]string) string {
	month := asked["month"]
	if strings.HasPrefix(month, "J") {
		monthDay := joined(" ", month, asked["day"])
		if asked["day"] == "" {
			return joined(", ", asked["weekday"], joined(" ", month, asked["year"]))
		}
		return joined(", ", asked["weekday"], monthDay, asked["year"])
	}
	return joined(", ", asked["weekday"], joined("/", month, asked["day"], asked["year"]))
}

func timeLayout(asked map[string]string) string {
	clock := joined(":", asked["hour"], asked["minute"], asked["second"])
	if asked["hour"] != "" {
		clock += " PM"
	}
	return clock
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	var some []string
	for _, part := range parts {
		if part != "" {
			some = append(some, part)
		}
	}
	return strings.Join(some, separator)
}
