// Package workspace keeps what programs and their authors need between requests.
package workspace
