package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/internal/packages"
	"github.com/writ-go/writ/agent/codemode/internal/workspace"
)

// defaultEnvironment is the environment of calls whose arguments name no environment.
const defaultEnvironment = "default"

// environment is a named folder of npm packages that belongs to a client.
type environment struct {
	workspace.Environment
	packages *packages.Environment
}

// environment finds an environment by its name or handle. It creates a missing environment if create is set, and
// always creates the default environment.
func (c *client) environment(ctx context.Context, name string, create bool) (environment, error) {
	if name == "" {
		name = defaultEnvironment
	}
	found, err := c.space().Environment(ctx, name)
	if missing(err) && (create || name == defaultEnvironment) {
		found, err = c.space().NewEnvironment(ctx, name)
		if errors.Is(err, workspace.ErrExists) { // a concurrent call created it
			found, err = c.space().Environment(ctx, name)
		}
	}
	if err != nil {
		return environment{}, forModel(err)
	}
	opened, err := packages.New(found.Dir, c.app.options.npm())
	if errors.Is(err, os.ErrNotExist) { // another call has removed it in the meantime
		err = forModel(fmt.Errorf("%w: the environment %q has just been removed", workspace.ErrNotFound, name))
	}
	return environment{found, opened}, err
}

func (c *client) environmentTools() []tool {
	switch o := c.app.options; {
	case len(o.Packages) == 0:
		return nil
	case !o.AllowInstall:
		return []tool{c.installedTool(), c.configureTool(), c.configTool()}
	}
	return []tool{c.installTool(), c.installedTool(), c.configureTool(), c.configTool()}
}

type packageArgs struct {
	Packages    []string
	Environment string
}

// installation is the result of install_dependencies.
type installation struct {
	Environment string            `json:"environment"`
	Added       []packages.Change `json:"added"`
	Updated     []packages.Change `json:"updated"`
	Removed     []packages.Change `json:"removed"`
	Packages    int               `json:"packages"`
	SizeBytes   int64             `json:"size_bytes"`
	DurationMS  float64           `json:"duration_ms"`
}

func (c *client) installTool() tool {
	return offer(definition("install_dependencies"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in packageArgs) (installation, error) {
			var e environment
			var r *packages.Report
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
			return installation{
				e.Name, r.Added, r.Updated, r.Removed, r.Packages, r.Bytes, milliseconds(r.Duration),
			}, nil
		})
}

// change runs f on an environment, which it creates if it does not exist. While f runs, no other call can
// change or remove the environment.
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

// installed is the result of check_installed_packages.
type installed struct {
	Environment    string                      `json:"environment"`
	AllInstalled   bool                        `json:"all_installed"`
	NotInstalled   []string                    `json:"not_installed"`
	PackageDetails map[string]packages.Package `json:"package_details"`
}

func (c *client) installedTool() tool {
	return offer(definition("check_installed_packages"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in packageArgs) (installed, error) {
			e, err := c.environment(ctx, in.Environment, false)
			if err != nil {
				return installed{}, err
			}
			list, err := e.packages.Installed(ctx, in.Packages...)
			if err != nil {
				return installed{}, forModel(err)
			}
			answer := installed{
				Environment: e.Name, NotInstalled: []string{}, PackageDetails: map[string]packages.Package{},
			}
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

// configuration is the description of an environment for clients.
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
	return offer(definition("configure_environment"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in args) (configuration, error) {
			var answer configuration
			err := c.change(ctx, in.Environment, func(e environment) error {
				settings, err := e.packages.Settings()
				if err != nil {
					return err
				}
				replace(&settings.Description, in.Description)
				replace(&settings.Imports, in.Imports)
				if err := e.packages.Configure(settings); err != nil {
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
	return offer(definition("get_environment_config"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in args) (configuration, error) {
			e, err := c.environment(ctx, in.Environment, false)
			if err != nil {
				return configuration{}, err
			}
			return c.configuration(ctx, e)
		})
}

func (c *client) configuration(ctx context.Context, e environment) (configuration, error) {
	settings, err := e.packages.Settings()
	importable, importErr := e.packages.Importable()
	all, listErr := c.space().Environments(ctx)
	if err := cmp.Or(err, importErr, listErr); err != nil {
		return configuration{}, err
	}
	answer := configuration{
		Environment: e.Name, Handle: e.Handle, Description: settings.Description,
		Imports: append([]string{}, settings.Imports...), Importable: importable,
		Allowed: c.app.options.Packages, CanInstall: c.app.options.AllowInstall,
		Environments: []string{defaultEnvironment},
	}
	for _, other := range all {
		answer.Environments = append(answer.Environments, other.Name)
	}
	slices.Sort(answer.Environments)
	answer.Environments = slices.Compact(answer.Environments) // the default environment may be listed twice
	return answer, nil
}

// npm returns the options for installing packages. npm inherits only the variables of this process that it may
// need to reach the registry.
func (o *Options) npm() packages.Options {
	return packages.Options{Allow: o.Packages, Env: []string{
		"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS",
		"npm_config_registry",
	}}
}
