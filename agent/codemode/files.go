package codemode

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/internal/workspace"
)

// codeFile describes a code file for clients. FilePath is not a path on the host but a handle, which is valid only for
// its owner.
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
	return offer(definition("initialize_code_file"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in args) (codeFile, error) {
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
	return offer(definition("append_to_code_file"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in args) (codeFile, error) {
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
	return offer(definition("read_code_file"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in args) (filePart, error) {
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

// fileDefinition returns the definition of execute_code_file. Its schemas are those of execute_code, with file_path
// instead of code.
func fileDefinition() mcp.Tool {
	t, run := definition("execute_code_file"), definition("execute_code")
	const code, file = `"code": {"type": "string", "description": "The program."}`,
		`"file_path": {"type": "string", "description": "The file_path that initialize_code_file returned."}`
	input := strings.Replace(string(run.InputSchema.(json.RawMessage)), code, file, 1)
	t.InputSchema = json.RawMessage(strings.Replace(input, `"required": ["code"]`, `"required": ["file_path"]`, 1))
	t.OutputSchema = run.OutputSchema
	return t
}

func (c *client) executeFileTool() tool {
	type args struct {
		FilePath string `json:"file_path"`
		programArgs
	}
	return offer(fileDefinition(),
		func(ctx context.Context, r *mcp.CallToolRequest, in args) (execution, error) {
			code, file, err := c.space().Read(ctx, in.FilePath)
			if err != nil {
				return execution{}, forModel(err)
			}
			in.Code = code
			if in.Language == "" && strings.HasSuffix(file.Name, ".ts") {
				in.Language = languageTS
			}
			return c.run(ctx, r, in.programArgs)
		}).failing(refused)
}

func (c *client) discardTool() tool {
	type args struct{ Handle string }
	type discarded struct {
		What string `json:"discarded"`
	}
	return offer(definition("discard"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in args) (discarded, error) {
			space := c.space()
			for _, kind := range []struct {
				what   string
				remove func(context.Context, string) error
			}{
				{"code file", space.RemoveFile}, {"session", space.RemoveSession},
				{"environment", space.RemoveEnvironment},
			} {
				if err := kind.remove(ctx, in.Handle); !missing(err) {
					return discarded{kind.what}, forModel(err)
				}
			}
			handle := cut(in.Handle, 100)
			return discarded{}, &problem{notFound, "no code file, session or environment is called " + handle}
		})
}
