package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools/mcptools"
)

// advise adds hints to the diagnostics of a program that the sandbox cannot give: about
// servers that are not connected, and about other features of the tool.
func (c *client) advise(p program, e *execution) {
	for i := range e.Diagnostics {
		d := &e.Diagnostics[i]
		if name, ok := strings.CutSuffix(d.Message, " is not defined"); ok {
			d.Hint = cmp.Or(c.absent(name), d.Hint)
		}
		if p.Environment == "" {
			d.Hint = c.withArguments(p, d.Hint)
		}
	}
}

// withArguments says which argument makes right what is wrong without.
func (c *client) withArguments(p program, hint string) string {
	switch {
	case strings.HasSuffix(hint, "without types") && p.Language != typescript:
		return hint + `, or pass language: "typescript"`
	case (strings.HasPrefix(hint, "there are no modules") || strings.HasPrefix(hint, "no packages are available")) &&
		len(c.app.settings.packages) > 0:
		return fmt.Sprintf("packages are imported from an environment: pass environment: %q, or the name of another",
			defaultEnvironment)
	}
	return hint
}

// absent says that a name is that of a server that is not connected; "" if it is not,
// or the principal could not use it anyway.
func (c *client) absent(name string) string {
	name, _, _ = strings.Cut(name, ".")
	for _, s := range c.unlisted() {
		if name == s.Name || name == global(s.Name) {
			return fmt.Sprintf("the server %s is not connected: %s", name, reason(s.Err))
		}
	}
	return ""
}

// unlisted are the servers whose tools are not known, of those that the principal may
// use.
func (c *client) unlisted() []mcptools.Status {
	return slices.DeleteFunc(c.app.catalog.status(), func(s mcptools.Status) bool {
		return s.Tools > 0 || s.State == mcptools.Ready && s.Err == nil || !c.mayUse(s.Name)
	})
}

// global is about what a server is called in programs.
func global(server string) string { return unfit.ReplaceAllString(server, "_") }

// mayUse reports whether a pattern of the principal may be meant for a server.
func (c *client) mayUse(server string) bool {
	return c.principal.Tools == nil || slices.ContainsFunc(c.principal.Tools, func(pattern string) bool {
		literal, _, open := strings.Cut(pattern, "*")
		return strings.HasPrefix(literal, server+".") || open && strings.HasPrefix(server+".", literal)
	})
}

var (
	unfit        = regexp.MustCompile(`[^\pL\pN_$]`) // for a global, as which a server has another name
	notFoundText = regexp.MustCompile(`was not found in PATH`)
	slowText     = regexp.MustCompile(`no answer within [^ ;]+`)
)

// reason is why a server is not connected, as far as it concerns a client: the error
// itself has paths of this machine, and the last words of the server.
func reason(err error) string {
	if err == nil {
		return "it is still starting; try again soon"
	}
	if notFoundText.MatchString(err.Error()) {
		return "its command was not found"
	}
	return cmp.Or(slowText.FindString(err.Error()), "it could not be started or reached")
}

// excuse says why a package of an environment cannot be imported, where the list of
// what can be does not say it. The environment's errors have been looked at before.
func (c *client) excuse(ctx context.Context, e environment) func(name string) (message, hint string) {
	return func(name string) (message, hint string) {
		settings, err := e.packages.Settings()
		if err != nil || !c.app.settings.allows(name) {
			return "", ""
		}
		list, err := e.packages.Installed(ctx, name)
		switch {
		case err != nil:
			return "", ""
		case !list[0].Installed:
			return fmt.Sprintf("the package %q is not installed in this environment",
				name), c.ifOffered("install_dependencies", "install_dependencies installs it")
		case !list[0].Direct:
			return fmt.Sprintf("the package %q is in this environment only because another one needs it",
				name), c.ifOffered("install_dependencies", "install_dependencies installs it for programs too")
		case len(settings.Imports) > 0 && !slices.Contains(settings.Imports, name):
			return fmt.Sprintf("the package %q is installed, but not among the imports of this environment",
				name), c.ifOffered("configure_environment", "configure_environment says which those are")
		}
		return "", ""
	}
}

// ifOffered is a text that sends the client to a tool, where it has that.
func (c *client) ifOffered(name, text string) string {
	offered := slices.ContainsFunc(c.environmentTools(), func(t tool) bool { return t.Name == name })
	if !offered || !c.principal.Allows(name) {
		return ""
	}
	return text
}

// allows reports whether a package may be installed and imported at all.
func (s *settings) allows(name string) bool {
	return slices.ContainsFunc(s.packages, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
