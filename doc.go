// Package writ is the overview of a library for agents that act by writing code;
// there is nothing in it to call.
//
// A user declares a typed signature. A module asks a language model for a
// JavaScript program that fulfils it. The program is checked before anything
// runs, then run in a sandbox with tools bound as globals: Go functions and the
// tools of MCP servers. Errors go back to the model, and a typed answer comes
// out.
//
// The packages, in the order in which a run passes them:
//
//   - [github.com/writ-go/writ/signature]: what goes in and what must come out
//   - [github.com/writ-go/writ/tools]: what a program may call, and the policies
//     around every call; tools/mcptools takes tools from MCP servers,
//     tools/openapi takes them from descriptions of REST APIs,
//     tools/policy has the policies, tools/declare shows tools to a model,
//     tools/search finds them by what they do, tools/journal records what was done
//   - [github.com/writ-go/writ/sandbox]: checks and runs one program, in a child
//     process
//   - [github.com/writ-go/writ/module]: asks the model: Predict, CodeAct
//   - [github.com/writ-go/writ/agent]: runs tasks that are given as text
//
// The one file to read is module/codeact.go: its Run is the algorithm. A writ is
// a signed order to act.
package writ
