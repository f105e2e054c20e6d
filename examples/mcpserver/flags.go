package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// variable returns the name of the environment variable that is read if a flag is not set.
func variable(flag string) string {
	return "WRIT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// parse parses args. Flags that are not set there are read from their environment variables.
func parse(flags *flag.FlagSet, args []string, lookup func(string) (string, bool)) error {
	flags.SetOutput(io.Discard) // the caller prints the error
	if err := flags.Parse(args); err != nil {
		return err
	}
	var errs []error
	if flags.NArg() > 0 {
		errs = append(errs, fmt.Errorf("%q: unexpected argument; only flags are accepted", flags.Arg(0)))
	}
	seen := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { seen[f.Name] = true })
	flags.VisitAll(func(f *flag.Flag) {
		text, _ := lookup(variable(f.Name))
		if seen[f.Name] || text == "" {
			return
		}
		if err := flags.Set(f.Name, text); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", variable(f.Name), text, err))
		}
	})
	return errors.Join(errs...)
}

func help(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintln(w, "usage: mcpserver [flags]\n\nAn MCP server that runs programs in a sandbox.\n"+
		"If a flag is not set, its environment variable is used, such as WRIT_ALLOW_INSTALL for -allow-install.")
	flags.SetOutput(w)
	flags.PrintDefaults()
}

// list returns the setter of a flag whose value is a list, separated by commas.
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
