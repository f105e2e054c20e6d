package codemode

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools/mcptools"
)

// addHints adds hints to the diagnostics of a program: about servers that are not connected, and about the tool's
// arguments, which the sandbox does not know.
func (c *client) addHints(p programArgs, e *execution) {
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

// withArguments adds a suggestion to a hint if another argument of execute_code would make the program valid.
// Otherwise it returns the hint unchanged.
func (c *client) withArguments(p programArgs, hint string) string {
	switch {
	case strings.HasSuffix(hint, "without types") && p.Language != languageTS:
		return hint + `, or pass language: "typescript"`
	case (strings.HasPrefix(hint, "there are no modules") || strings.HasPrefix(hint, "no packages are available")) &&
		len(c.app.options.Packages) > 0:
		return fmt.Sprintf("packages are imported from an environment: pass environment: %q, or the name of "+
			"another environment", defaultEnvironment)
	}
	return hint
}

// absent returns why a server is not connected. It returns "" if name is not the name of such a server, or the
// principal may not use the server.
func (c *client) absent(name string) string {
	name, _, _ = strings.Cut(name, ".")
	for _, s := range c.unlisted() {
		if name == s.Name || name == global(s.Name) {
			return fmt.Sprintf("the server %s is not connected: %s", name, reason(s.Err))
		}
	}
	return ""
}

// unlisted returns the servers that the principal may use and whose tools are not known.
func (c *client) unlisted() []mcptools.Status {
	return slices.DeleteFunc(c.app.catalog.status(), func(s mcptools.Status) bool {
		return s.Tools > 0 || s.State == mcptools.Ready && s.Err == nil || !c.mayUse(s.Name)
	})
}

// global returns a server's approximate name in programs.
func global(server string) string { return unfit.ReplaceAllString(server, "_") }

// mayUse reports whether one of the principal's patterns may match a server's tools.
func (c *client) mayUse(server string) bool {
	return c.principal.Tools == nil || slices.ContainsFunc(c.principal.Tools, func(pattern string) bool {
		literal, _, open := strings.Cut(pattern, "*")
		return strings.HasPrefix(literal, server+".") || open && strings.HasPrefix(server+".", literal)
	})
}

var (
	unfit    = regexp.MustCompile(`[^\pL\pN_$]`) // characters that cannot be in the name of a global
	slowText = regexp.MustCompile(`no answer within [^ ;]+`)
)

// reason returns why a server is not connected. It omits the error's details, which may contain paths on this machine
// and server output.
func reason(err error) string {
	switch {
	case err == nil:
		return "it is still starting; try again soon"
	case strings.Contains(err.Error(), "was not found in PATH"):
		return "its command was not found"
	}
	return cmp.Or(slowText.FindString(err.Error()), "it could not be started or reached")
}

// whyNotImportable returns a function for [imports.New] that explains why a package of an environment
// cannot be imported. For other packages, it returns "": the default finding lists the importable packages.
func (c *client) whyNotImportable(ctx context.Context, e environment) func(name string) (message, hint string) {
	return func(name string) (message, hint string) {
		settings, err := e.packages.Settings()
		if err != nil || !e.packages.Allows(name) {
			return "", ""
		}
		list, err := e.packages.Installed(ctx, name)
		switch {
		case err != nil:
			return "", ""
		case !list[0].Installed:
			return fmt.Sprintf("the package %q is not installed in this environment", name),
				c.ifOffered("install_dependencies", "install_dependencies installs it")
		case !list[0].Direct:
			return fmt.Sprintf("the package %q is in this environment only as a dependency of another package", name),
				c.ifOffered("install_dependencies", "install_dependencies installs it for programs too")
		case len(settings.Imports) > 0 && !slices.Contains(settings.Imports, name):
			return fmt.Sprintf("the package %q is installed, but is not one of the imports of this environment", name),
				c.ifOffered("configure_environment", "configure_environment sets the imports")
		}
		return "", ""
	}
}

// ifOffered returns a hint that mentions a tool, or "" if the client does not have the tool.
func (c *client) ifOffered(name, hint string) string {
	exists := slices.ContainsFunc(c.environmentTools(), func(t tool) bool { return t.Name == name })
	if !exists || !c.offers(name) {
		return ""
	}
	return hint
}
