package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// option is one flag, and the environment variable that is used if the flag is missing.
type option struct {
	name, value string // value describes the argument; "" for a switch
	initial     string // the default, as -help shows it
	about       string
	set         func(text string) error
}

func (o option) variable() string {
	return "WRIT_" + strings.ToUpper(strings.ReplaceAll(o.name, "-", "_"))
}

// given makes an option a flag.Value. It collects errors, so that all can be reported at once.
type given struct {
	option
	seen *bool
	errs *[]error
}

func (g given) String() string   { return "" }
func (g given) IsBoolFlag() bool { return g.value == "" }
func (g given) Set(text string) error {
	*g.seen = true
	if err := g.set(text); err != nil {
		*g.errs = append(*g.errs, fmt.Errorf("-%s %s: %w", g.name, text, err))
	}
	return nil
}

// parse reads the flags, and the environment for flags that are missing. The error is everything that
// is wrong with them, or flag.ErrHelp.
func parse(options []option, args []string, lookup func(string) (string, bool)) error {
	var errs []error
	seen := make([]bool, len(options))
	flags := flag.NewFlagSet("mcpserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for i, o := range options {
		flags.Var(given{o, &seen[i], &errs}, o.name, o.about)
	}
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	errs = append(errs, err)
	if flags.NArg() > 0 {
		errs = append(errs, fmt.Errorf("%q: unexpected argument; only flags are accepted", flags.Arg(0)))
	}
	for i, o := range options {
		text, ok := lookup(o.variable())
		if seen[i] || !ok || text == "" {
			continue
		}
		if err := o.set(text); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", o.variable(), text, err))
		}
	}
	return errors.Join(errs...)
}

// help prints one table of flags and variables.
func help(w io.Writer, options []option) {
	fmt.Fprint(w,
		"usage: mcpserver [flags]\n\nAn MCP server that runs programs in a sandbox. A flag takes precedence over its "+
			"variable.\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FLAG\tVARIABLE\tDEFAULT\tMEANING")
	for _, o := range options {
		fmt.Fprintf(table, "-%s\t%s\t%s\t%s\n", strings.TrimSpace(o.name+" "+o.value), o.variable(), cmp.Or(o.initial, "-"),
			o.about)
	}
	if err := table.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "mcpserver:", err)
	}
}

func text(to *string) func(string) error {
	return func(text string) error { *to = text; return nil }
}

// list accepts texts separated by commas.
func list(to *[]string) func(string) error {
	return func(text string) error {
		*to = nil
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				*to = append(*to, item)
			}
		}
		return nil
	}
}

func whole(to *int) func(string) error {
	return func(text string) (err error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return errors.New("write a whole number, not negative")
		}
		*to = n
		return nil
	}
}

func duration(to *time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return errors.New("write a time such as 30s or 5m")
		}
		*to = d
		return nil
	}
}

func yes(to *bool) func(string) error {
	return func(text string) error {
		is, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("write true or false")
		}
		*to = is
		return nil
	}
}
