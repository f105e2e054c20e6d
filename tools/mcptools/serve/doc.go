// Package serve is what an MCP server needs beside its tools.
package serve
