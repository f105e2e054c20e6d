// Package esbuild lets programs of a sandbox be TypeScript, and import npm packages.
package esbuild
