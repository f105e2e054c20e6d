package esbuild

import _ "embed"

// shim has what packages use and the engine lacks. esbuild puts it in the place of
// the globals, where they are used.
//
//go:embed shim.js
var shim string

// shimModule is what programs import of it, by way of the compiler.
const shimModule = "writ:shim"
