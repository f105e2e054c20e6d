package typescript

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/writ-go/writ/internal/bundling"
)

// bundled is a library, or the reason why it cannot be built.
type bundled struct {
	Library string  `json:"library"`
	Faults  []fault `json:"faults,omitempty"`
}

// The namespaces of the modules that esbuild sees.
const (
	entryFile   = "entry"   // the generated module that exports what the program imports
	absentFile  = "absent"  // modules that do not exist
	emptyFile   = "empty"   // modules that package.json replaces with nothing for browsers
	packageFile = "package" // package files
)

// bundle builds the library of the packages that a program imports.
func bundle(wants []want, f bundling.Files) *bundled {
	b := &bundler{wants: wants}
	if bundling.NewResolver != nil {
		b.resolver = bundling.NewResolver(f)
	}
	result := api.Build(b.options())
	if len(result.Errors) > 0 {
		return &bundled{Faults: b.faults(result.Errors)}
	}
	if len(result.OutputFiles) != 1 {
		return &bundled{Faults: []fault{{Message: "the bundle does not consist of one file"}}}
	}
	return &bundled{Library: withShims(b.wants, string(result.OutputFiles[0].Contents)) + "return library"}
}

// bundler lets esbuild read the packages.
type bundler struct {
	wants []want

	mu       sync.Mutex        // esbuild loads files concurrently
	resolver bundling.Resolver // nil if this executable does not link the code that finds packages
}

func (b *bundler) options() api.BuildOptions {
	supported := supports(true)
	supported["regexp-match-indices"] = false
	return api.BuildOptions{
		EntryPoints: []string{entryFile},
		Bundle:      true, Format: api.FormatIIFE, GlobalName: "library", TreeShaking: api.TreeShakingTrue,
		Target: api.ES2022, Supported: supported, Platform: api.PlatformNeutral,
		MinifyWhitespace: true, LegalComments: api.LegalCommentsNone, Charset: api.CharsetASCII,
		Define: map[string]string{
			"process.env.NODE_ENV": `"production"`, "global": "globalThis", "self": "globalThis",
		},
		TsconfigRaw: "{}", AbsWorkingDir: "/", LogLevel: api.LogLevelSilent, LogLimit: maxFaults,
		Plugins: []api.Plugin{{Name: "packages", Setup: b.setup}},
	}
}

func (b *bundler) setup(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, b.resolve)
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: entryFile}, contents(b.entry()))
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: emptyFile}, contents("module.exports={}"))
	absent := api.OnLoadOptions{Filter: ".*", Namespace: absentFile}
	build.OnLoad(absent, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		why, _ := json.Marshal(a.Path)
		source := fmt.Sprintf("throw new Error(%s)", why)
		return api.OnLoadResult{Contents: &source, Loader: api.LoaderJS}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: packageFile}, b.load)
}

func contents(source string) func(api.OnLoadArgs) (api.OnLoadResult, error) {
	return func(api.OnLoadArgs) (api.OnLoadResult, error) {
		return api.OnLoadResult{Contents: &source, Loader: api.LoaderJS}, nil
	}
}

// entry returns the source of a module that exports the wanted names. Line n exports name n.
func (b *bundler) entry() string {
	var s strings.Builder
	dynamic := false
	for i, w := range b.wants {
		module, _ := json.Marshal(w.Module)
		name, _ := json.Marshal(w.Name)
		switch {
		case w.Module == shimModule && strings.Contains(w.Name, "."):
			s.WriteString("\n")
		case w.Module == shimModule:
			fmt.Fprintf(&s, "export const %s=%s;\n", exportOf(i), w.Name)
		case w.Dynamic:
			dynamic = true
			fmt.Fprintf(&s, "import*as m%d from %s;\n", i, module)
		case w.Name == "":
			fmt.Fprintf(&s, "import %s;\n", module)
		case w.Name == "*":
			fmt.Fprintf(&s, "export*as %s from %s;\n", exportOf(i), module)
		case w.Name == "default":
			fmt.Fprintf(&s, "export{default as %s}from %s;\n", exportOf(i), module)
		default:
			fmt.Fprintf(&s, "export{%s as %s}from %s;\n", name, exportOf(i), module)
		}
	}
	if dynamic {
		s.WriteString(b.loader())
	}
	return s.String()
}

// loader returns the source of the function that replaces import().
func (b *bundler) loader() string {
	var s strings.Builder
	s.WriteString("const modules=new Map([")
	for i, w := range b.wants {
		if w.Dynamic {
			module, _ := json.Marshal(w.Module)
			fmt.Fprintf(&s, "[%s,m%d],", module, i)
		}
	}
	s.WriteString("]);export const load=async name=>({...modules.get(name)});")
	return s.String()
}

// resolve finds a module's file.
func (b *bundler) resolve(a api.OnResolveArgs) (api.OnResolveResult, error) {
	if a.Kind == api.ResolveEntryPoint {
		return api.OnResolveResult{Path: a.Path, Namespace: a.Path}, nil
	}
	importer := a.Importer
	if a.Namespace != packageFile {
		importer = ""
	}
	if b.resolver == nil {
		return api.OnResolveResult{}, fmt.Errorf(
			"the worker program cannot import %q: it does not link package agent/codemode", a.Path)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	require := a.Kind == api.ResolveJSRequireCall || a.Kind == api.ResolveJSRequireResolve
	found, err := b.resolver.Resolve(importer, a.Path, require)
	switch {
	case err != nil:
		return api.OnResolveResult{}, err
	case found.Absent != "": // an error only if the package needs the module when it runs
		return api.OnResolveResult{Path: found.Absent, Namespace: absentFile}, nil
	case found.Empty:
		return api.OnResolveResult{Path: "empty", Namespace: emptyFile}, nil
	}
	effects := api.SideEffectsTrue
	if found.Pure {
		effects = api.SideEffectsFalse
	}
	return api.OnResolveResult{Path: found.Path, Namespace: packageFile, SideEffects: effects}, nil
}

// loaders maps file extensions to esbuild's loaders.
var loaders = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".cjs": api.LoaderJS, ".json": api.LoaderJSON,
	".ts": api.LoaderTS, ".mts": api.LoaderTS, ".cts": api.LoaderTS,
}

// load reads a file for esbuild.
func (b *bundler) load(a api.OnLoadArgs) (api.OnLoadResult, error) {
	b.mu.Lock()
	source, ok := b.resolver.Text(a.Path)
	b.mu.Unlock()
	loader, known := loaders[path.Ext(a.Path)]
	switch {
	case !ok:
		return api.OnLoadResult{}, fmt.Errorf("%s was not found", a.Path)
	case !known:
		return api.OnLoadResult{}, fmt.Errorf("%s is not JavaScript", a.Path)
	}
	return api.OnLoadResult{Contents: &source, Loader: loader}, nil
}

// faults assigns each error to the import that caused it.
func (b *bundler) faults(errs []api.Message) []fault {
	var list []fault
	for i, e := range errs[:min(len(errs), maxFaults)] {
		f := fault{Message: lower(e.Text), Want: 1}
		switch at := e.Location; {
		case at == nil:
		case at.File == entryFile+":"+entryFile:
			f.Want = min(at.Line, len(b.wants))
			if w := b.wants[f.Want-1]; strings.HasPrefix(e.Text, "No matching export") {
				f.Message = fmt.Sprintf("%q has no export named %s", w.Module, w.Name)
			}
		default:
			file := strings.TrimPrefix(at.File, packageFile+":node_modules/")
			f.Message = fmt.Sprintf("%s, line %d: %s", file, at.Line, lower(e.Text))
			f.Want = b.culprit(at.File)
		}
		if i == 0 || e.Text != errs[i-1].Text { // esbuild may report the same error for several files
			list = append(list, f)
		}
	}
	return list
}

// culprit returns the number of the import whose package contains a file, or 1.
func (b *bundler) culprit(file string) int {
	for i, w := range b.wants {
		if b.resolver != nil && b.resolver.Owns(w.Module, file) {
			return i + 1
		}
	}
	return 1
}
