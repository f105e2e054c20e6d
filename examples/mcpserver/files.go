package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/sandbox/workspace"
)

const (
	newFileInput = `{
  "type": "object",
  "properties": {
    "content": {"type": "string", "description": "The beginning of the program, or all of it."},
    "filename": {"type": "string", "description": "Letters, digits, dots, hyphens and underscores; \"program.js\" by default. One that ends in .ts holds TypeScript."}
  },
  "required": ["content"],
  "additionalProperties": false
}`
	appendInput = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "As initialize_code_file returned it."},
    "content": {"type": "string", "description": "What is added to the end, as it is: begin with a newline where one is needed."}
  },
  "required": ["file_path", "content"],
  "additionalProperties": false
}`
	readInput = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "As initialize_code_file returned it."},
    "offset": {"type": "integer", "minimum": 0, "description": "The byte to begin at; next_offset of the answer before."},
    "limit": {"type": "integer", "minimum": 4, "maximum": 1048576, "description": "How many bytes at most; 65536 by default."}
  },
  "required": ["file_path"],
  "additionalProperties": false
}`
	executeFileInput = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "As initialize_code_file returned it."},` + programInput + `
  },
  "required": ["file_path"],
  "additionalProperties": false
}`
	discardInput = `{
  "type": "object",
  "properties": {"handle": {"type": "string", "description": "A file_path, session or environment."}},
  "required": ["handle"],
  "additionalProperties": false
}`
	fileOutput = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "What the other tools take."},
    "filename": {"type": "string"},
    "size_bytes": {"type": "integer"}
  },
  "required": ["file_path", "filename", "size_bytes"]
}`
	readOutput = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string"},
    "filename": {"type": "string"},
    "size_bytes": {"type": "integer", "description": "Of the whole file."},
    "content": {"type": "string"},
    "next_offset": {"type": "integer", "description": "Where the rest begins, if there is any."}
  },
  "required": ["file_path", "filename", "size_bytes", "content"]
}`
	discardOutput = `{
  "type": "object",
  "properties": {"discarded": {"type": "string", "enum": ["code file", "session", "environment"]}},
  "required": ["discarded"]
}`
)

// codeFile is a code file as a client sees it. Its path is no path of the host's but
// a handle, which means nothing to anybody else.
type codeFile struct {
	FilePath  string `json:"file_path"`
	Filename  string `json:"filename"`
	SizeBytes int64  `json:"size_bytes"`
}

func shownFile(f workspace.File, err error) (codeFile, error) {
	return codeFile{f.Handle, f.Name, f.Size}, forModel(err)
}

func (c *client) space() *workspace.Space { return c.app.store.Space(c.principal.Name) }

func (c *client) fileTools() []tool {
	return []tool{c.newFileTool(), c.appendTool(), c.readTool(), c.executeFileTool(), c.discardTool()}
}

func (c *client) newFileTool() tool {
	type args struct{ Content, Filename string }
	return offer(mcp.Tool{
		Name:  "initialize_code_file",
		Title: "Begin a code file",
		Description: "Begin a code file, for a program that is too long for one message: append_to_code_file adds to " +
			"it and execute_code_file runs it. It is kept until it has not been used for a month.",
		InputSchema:  json.RawMessage(newFileInput),
		OutputSchema: json.RawMessage(fileOutput),
		Annotations:  hints(mcp.ToolAnnotations{}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in args) (codeFile, error) {
		if in.Filename == "" {
			in.Filename = "program.js"
		}
		return shownFile(c.space().NewFile(ctx, in.Filename, in.Content))
	})
}

func (c *client) appendTool() tool {
	type args struct {
		FilePath string `json:"file_path"`
		Content  string
	}
	return offer(mcp.Tool{
		Name:         "append_to_code_file",
		Title:        "Add to a code file",
		Description:  "Add text to the end of a code file.",
		InputSchema:  json.RawMessage(appendInput),
		OutputSchema: json.RawMessage(fileOutput),
		Annotations:  hints(mcp.ToolAnnotations{}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in args) (codeFile, error) {
		return shownFile(c.space().Append(ctx, in.FilePath, in.Content))
	})
}

// filePart is a part of a code file.
type filePart struct {
	codeFile
	Content    string `json:"content"`
	NextOffset *int64 `json:"next_offset,omitempty"`
}

func (c *client) readTool() tool {
	type args struct {
		FilePath      string `json:"file_path"`
		Offset, Limit int64
	}
	return offer(mcp.Tool{
		Name:         "read_code_file",
		Title:        "Read a code file",
		Description:  "Read a code file, or a part of it.",
		InputSchema:  json.RawMessage(readInput),
		OutputSchema: json.RawMessage(readOutput),
		Annotations:  hints(mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in args) (filePart, error) {
		if in.Limit == 0 {
			in.Limit = 64 << 10
		}
		text, file, err := c.space().ReadPart(ctx, in.FilePath, in.Offset, in.Limit)
		shown, err := shownFile(file, err)
		part := filePart{codeFile: shown, Content: text}
		if next := in.Offset + int64(len(text)); next < file.Size {
			part.NextOffset = &next
		}
		return part, err
	})
}

func (c *client) executeFileTool() tool {
	type args struct {
		FilePath string `json:"file_path"`
		program
	}
	return offer(mcp.Tool{
		Name:         "execute_code_file",
		Title:        "Run a code file",
		Description:  "Run the program in a code file, as execute_code runs one.",
		InputSchema:  json.RawMessage(executeFileInput),
		OutputSchema: json.RawMessage(executionSchema),
		Annotations:  hints(mcp.ToolAnnotations{}, true, true),
	}, func(ctx context.Context, r *mcp.CallToolRequest, in args) (execution, error) {
		code, file, err := c.space().Read(ctx, in.FilePath)
		if err != nil {
			return execution{}, forModel(err)
		}
		in.Code = code
		if in.Language == "" && strings.HasSuffix(file.Name, ".ts") {
			in.Language = typescript
		}
		return c.run(ctx, r, in.program)
	}).telling(refused)
}

func (c *client) discardTool() tool {
	type args struct{ Handle string }
	type discarded struct {
		What string `json:"discarded"`
	}
	return offer(mcp.Tool{
		Name:  "discard",
		Title: "Remove what was kept",
		Description: "Remove a code file, a session or an environment that is no longer needed. How much is kept is " +
			"limited.",
		InputSchema:  json.RawMessage(discardInput),
		OutputSchema: json.RawMessage(discardOutput),
		Annotations:  hints(mcp.ToolAnnotations{IdempotentHint: true}, true, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in args) (discarded, error) {
		space := c.space()
		for _, kind := range []struct {
			what   string
			remove func(context.Context, string) error
		}{
			{"code file", space.RemoveFile}, {"session", space.RemoveSession}, {"environment", space.RemoveEnvironment},
		} {
			if err := kind.remove(ctx, in.Handle); !missing(err) {
				return discarded{kind.what}, forModel(err)
			}
		}
		return discarded{}, &problem{notFound, "there is no code file, session or environment " + cut(in.Handle, 100)}
	})
}
