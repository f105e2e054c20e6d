package serve_test

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
)

// TestCancel has a client cancel a call: the context of its handler ends.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newWorks()
			s.queue = queue.New(&queue.Options{Running: 1})
			o := serve.Options{}
			session := s.start(t, o).client(version, "", nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-s.started
				cancel()
			}()
			if _, err := call(ctx, session, "wait"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			// The place in the queue is free only when the handler has returned.
			if err := s.queue.Do(t.Context(), "other", func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestQuestionDuringShutdown has a call ask its client a question during the shutdown, which needs a session.
func TestQuestionDuringShutdown(t *testing.T) {
	t.Parallel()
	for _, version := range []string{oldEra} {
		inBubble(t, func(t *testing.T, s *works) {
			s.server(serve.Principal{Name: "local"}).AddTool(&mcp.Tool{Name: "ask",
				InputSchema: map[string]any{"type": "object"}},
				func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					s.started <- struct{}{}
					<-s.release
					res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?",
						RequestedSchema: map[string]any{"type": "object"}})
					if err != nil {
						return nil, err
					}
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Action}}}, nil
				})
			o := serve.Options{}
			r := s.start(t, o)
			session := r.client(version, "", &mcp.ClientOptions{ElicitationHandler: func(context.Context,
				*mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept"}, nil
			}})
			go func() {
				<-s.started
				r.shutDown()
				close(s.release)
			}()
			if got := mustCall(t, session, "ask"); got != "accept" {
				t.Errorf("%s: got %q, want accept", version, got)
			}
		})
	}
}
