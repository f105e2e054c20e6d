package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/sandbox/npm"
	"github.com/writ-go/writ/sandbox/workspace"
)

const (
	environmentProperty = `
    "environment": {"type": "string", "description": "A name of letters, digits, dots, hyphens and underscores; \"default\", which is always there, if none is given."}`
	installInput = `{
  "type": "object",
  "properties": {
    "packages": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "Names as npm has them, with @version if need be: lodash-es, zod@4."},` + environmentProperty + `
  },
  "required": ["packages"],
  "additionalProperties": false
}`
	installedInput = `{
  "type": "object",
  "properties": {
    "packages": {"type": "array", "items": {"type": "string"}, "description": "Names; without any, all that were installed are listed."},` + environmentProperty + `
  },
  "additionalProperties": false
}`
	configureInput = `{
  "type": "object",
  "properties": {` + environmentProperty + `,
    "description": {"type": "string", "description": "What it is for."},
    "imports": {"type": "array", "items": {"type": "string"}, "description": "The only packages that programs may import; empty: all that are installed and allowed."}
  },
  "additionalProperties": false
}`
	configInput = `{
  "type": "object",
  "properties": {` + environmentProperty + `
  },
  "additionalProperties": false
}`
	installOutput = `{
  "type": "object",
  "properties": {
    "environment": {"type": "string"},
    "added": {"type": "array", "items": {"$ref": "#/$defs/change"}},
    "updated": {"type": "array", "items": {"$ref": "#/$defs/change"}},
    "removed": {"type": "array", "items": {"$ref": "#/$defs/change"}},
    "packages": {"type": "integer", "description": "That there are now, with those that they depend on."},
    "size_bytes": {"type": "integer"},
    "duration_ms": {"type": "number"}
  },
  "required": ["environment", "added", "updated", "removed", "packages", "size_bytes", "duration_ms"],
  "$defs": {
    "change": {
      "type": "object",
      "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "previous": {"type": "string"},
        "direct": {"type": "boolean", "description": "It was asked for, and is not only a dependency of another."}
      },
      "required": ["name", "version", "direct"]
    }
  }
}`
	installedOutput = `{
  "type": "object",
  "properties": {
    "environment": {"type": "string"},
    "all_installed": {"type": "boolean"},
    "not_installed": {"type": "array", "items": {"type": "string"}},
    "package_details": {
      "type": "object",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "installed": {"type": "boolean"},
          "version": {"type": "string"},
          "description": {"type": "string"},
          "importable": {"type": "boolean", "description": "Programs may import it."},
          "types": {"type": "boolean", "description": "It brings TypeScript declarations."},
          "problem": {"type": "string"}
        },
        "required": ["installed", "importable"]
      }
    }
  },
  "required": ["environment", "all_installed", "not_installed", "package_details"]
}`
	configOutput = `{
  "type": "object",
  "properties": {
    "environment": {"type": "string"},
    "handle": {"type": "string", "description": "For discard."},
    "description": {"type": "string"},
    "imports": {"type": "array", "items": {"type": "string"}, "description": "The only packages that programs may import, as configured; empty: no more is excluded."},
    "importable": {"type": "array", "items": {"type": "string"}, "description": "What programs can import now: installed, allowed, and not excluded by imports."},
    "allowed_packages": {"type": "array", "items": {"type": "string"}, "description": "Names and patterns of what may be installed at all."},
    "can_install": {"type": "boolean"},
    "environments": {"type": "array", "items": {"type": "string"}, "description": "All that there are."}
  },
  "required": ["environment", "description", "imports", "importable", "allowed_packages", "can_install", "environments"]
}`
)

// defaultEnvironment is the environment of calls that do not name one.
const defaultEnvironment = "default"

// environment is a named folder of npm packages that belongs to a client.
type environment struct {
	workspace.Environment
	packages *npm.Environment
}

// environment finds an environment by its name or handle, and creates it if create is set.
// The default environment always exists: it is created at its first use.
func (c *client) environment(ctx context.Context, name string, create bool) (environment, error) {
	if name == "" {
		name = defaultEnvironment
	}
	found, err := c.space().Environment(ctx, name)
	if missing(err) && (create || name == defaultEnvironment) {
		found, err = c.space().NewEnvironment(ctx, name)
		if errors.Is(err, workspace.ErrExists) { // somebody else was faster
			found, err = c.space().Environment(ctx, name)
		}
	}
	if err != nil {
		return environment{}, forModel(err)
	}
	packages, err := npm.New(found.Dir, c.app.settings.npm())
	if errors.Is(err, os.ErrNotExist) { // it was there a moment ago
		err = forModel(fmt.Errorf("%w: you have no environment %q any more", workspace.ErrNotFound, name))
	}
	return environment{found, packages}, err
}

func (c *client) environmentTools() []tool {
	switch s := c.app.settings; {
	case len(s.packages) == 0:
		return nil
	case !s.install:
		return []tool{c.installedTool(), c.configureTool(), c.configTool()}
	}
	return []tool{c.installTool(), c.installedTool(), c.configureTool(), c.configTool()}
}

type packageArgs struct {
	Packages    []string
	Environment string
}

// installation describes the changes of an installation.
type installation struct {
	Environment string       `json:"environment"`
	Added       []npm.Change `json:"added"`
	Updated     []npm.Change `json:"updated"`
	Removed     []npm.Change `json:"removed"`
	Packages    int          `json:"packages"`
	SizeBytes   int64        `json:"size_bytes"`
	DurationMS  float64      `json:"duration_ms"`
}

func (c *client) installTool() tool {
	return offer(mcp.Tool{
		Name:  "install_dependencies",
		Title: "Install npm packages",
		Description: "Install npm packages into an environment, which is created if it does not exist. " +
			"Programs that name the environment can import them.",
		InputSchema:  json.RawMessage(installInput),
		OutputSchema: json.RawMessage(installOutput),
		Annotations:  hints(mcp.ToolAnnotations{IdempotentHint: true}, false, true),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in packageArgs) (installation, error) {
		var e environment
		var r *npm.Report
		err := c.app.installs.Do(ctx, c.principal.Name, func(ctx context.Context) error {
			return c.change(ctx, in.Environment, func(found environment) (err error) {
				e = found
				r, err = e.packages.Install(ctx, in.Packages)
				return err
			})
		})
		if err != nil {
			return installation{}, forModel(err)
		}
		return installation{e.Name, r.Added, r.Updated, r.Removed, r.Packages, r.Bytes, milliseconds(r.Duration)}, nil
	})
}

// change runs f on an environment, which is created if it does not exist, and cannot be
// removed while f runs.
func (c *client) change(ctx context.Context, name string, f func(environment) error) error {
	e, err := c.environment(ctx, name, true)
	if err != nil {
		return err
	}
	unlock, err := e.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return f(e)
}

// installed describes packages, whether or not they are installed.
type installed struct {
	Environment    string                 `json:"environment"`
	AllInstalled   bool                   `json:"all_installed"`
	NotInstalled   []string               `json:"not_installed"`
	PackageDetails map[string]npm.Package `json:"package_details"`
}

func (c *client) installedTool() tool {
	return offer(mcp.Tool{
		Name:         "check_installed_packages",
		Title:        "Look for npm packages",
		Description:  "Say which npm packages an environment has, and whether programs may import them.",
		InputSchema:  json.RawMessage(installedInput),
		OutputSchema: json.RawMessage(installedOutput),
		Annotations:  hints(mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in packageArgs) (installed, error) {
		e, err := c.environment(ctx, in.Environment, false)
		if err != nil {
			return installed{}, err
		}
		list, err := e.packages.Installed(ctx, in.Packages...)
		if err != nil {
			return installed{}, forModel(err)
		}
		answer := installed{Environment: e.Name, NotInstalled: []string{}, PackageDetails: map[string]npm.Package{}}
		for _, p := range list {
			answer.PackageDetails[p.Name] = p
			if !p.Installed {
				answer.NotInstalled = append(answer.NotInstalled, p.Name)
			}
		}
		answer.AllInstalled = len(answer.NotInstalled) == 0
		return answer, nil
	})
}

// configuration is an environment as a client sees it.
type configuration struct {
	Environment  string   `json:"environment"`
	Handle       string   `json:"handle"`
	Description  string   `json:"description"`
	Imports      []string `json:"imports"`
	Importable   []string `json:"importable"`
	Allowed      []string `json:"allowed_packages"`
	CanInstall   bool     `json:"can_install"`
	Environments []string `json:"environments"`
}

func (c *client) configureTool() tool {
	type args struct {
		Environment string
		Description *string
		Imports     *[]string
	}
	return offer(mcp.Tool{
		Name:  "configure_environment",
		Title: "Set up an environment",
		Description: "Set up an environment, a named folder of npm packages, which is created if it does not " +
			"exist. Settings that are not given stay unchanged.",
		InputSchema:  json.RawMessage(configureInput),
		OutputSchema: json.RawMessage(configOutput),
		Annotations:  hints(mcp.ToolAnnotations{IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in args) (configuration, error) {
		var answer configuration
		err := c.change(ctx, in.Environment, func(e environment) error {
			settings, err := e.packages.Settings()
			if err != nil {
				return err
			}
			replace(&settings.Description, in.Description)
			replace(&settings.Imports, in.Imports)
			if err := e.packages.Configure(ctx, settings); err != nil {
				return err
			}
			answer, err = c.configuration(ctx, e)
			return err
		})
		return answer, forModel(err)
	})
}

func replace[T any](old, with *T) {
	if with != nil {
		*old = *with
	}
}

func (c *client) configTool() tool {
	type args struct{ Environment string }
	return offer(mcp.Tool{
		Name:         "get_environment_config",
		Title:        "Look at an environment",
		Description:  "Say how an environment is set up, what programs may import from it, and which others there are.",
		InputSchema:  json.RawMessage(configInput),
		OutputSchema: json.RawMessage(configOutput),
		Annotations:  hints(mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in args) (configuration, error) {
		e, err := c.environment(ctx, in.Environment, false)
		if err != nil {
			return configuration{}, err
		}
		return c.configuration(ctx, e)
	})
}

func (c *client) configuration(ctx context.Context, e environment) (configuration, error) {
	settings, err := e.packages.Settings()
	if err != nil {
		return configuration{}, err
	}
	importable, err := e.packages.Importable()
	if err != nil {
		return configuration{}, err
	}
	all, err := c.space().Environments(ctx)
	if err != nil {
		return configuration{}, err
	}
	answer := configuration{
		Environment: e.Name, Handle: e.Handle, Description: settings.Description,
		Imports: append([]string{}, settings.Imports...), Importable: importable,
		Allowed: c.app.settings.packages, CanInstall: c.app.settings.install, Environments: []string{defaultEnvironment},
	}
	for _, other := range all {
		answer.Environments = append(answer.Environments, other.Name)
	}
	slices.Sort(answer.Environments)
	answer.Environments = slices.Compact(answer.Environments) // the default one may not be made yet
	return answer, nil
}
