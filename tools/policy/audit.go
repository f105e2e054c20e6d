package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
)

// AuditOptions configures [Audit]. Nil means the defaults.
type AuditOptions struct {
	// Content adds the arguments, the result, the error message and the line of the
	// program to the record.
	Content bool

	// Secrets, if set, are replaced in the content. A [Redact] policy inside of Audit
	// replaces them in results, but not in arguments.
	Secrets *Secrets
}

// Audit logs every call that reaches the policy. After the call has ended, it logs a record
// "tool call" with these attributes:
//
//	tool          the tool's path
//	server        the tool's namespace, if it has one
//	run, step, attempt, entry   of the call, if a journal records it
//	approver      who approved or refused the call, if known: "ann", or "ann (grant)" with a Grant
//	class         the class that the host gave the tool: effect, idempotent, read or unclassified
//	call          the call's number in its program
//	line, column  of the call in the program
//	outcome       ok, the error's kind, paused, fatal, or panic
//	duration
//	args_bytes, result_bytes
//	args, result, error, source   if AuditOptions.Content
//
// Calls that are invalid or answered from the journal do not reach policies. If log is nil,
// Audit uses slog.Default().
func Audit(log *slog.Logger, o *AuditOptions) tools.Policy {
	o = cmp.Or(o, &AuditOptions{})
	log = cmp.Or(log, slog.Default())
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (result json.RawMessage, err error) {
		start, returned := time.Now(), false
		defer func() {
			if p := dispatch.Performed(ctx); p != nil {
				c.Args = p // an inner policy may have changed them
			}
			outcome := "panic"
			if returned {
				outcome = outcomeOf(err)
			}
			log.LogAttrs(ctx, slog.LevelInfo, "tool call", o.attrs(ctx, c, result, err, outcome, time.Since(start))...)
		}()
		result, err = next.Call(ctx, c)
		returned = true
		return result, err
	})
}

func outcomeOf(err error) string {
	te, ok := errors.AsType[*tools.ToolError](err)
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, place.ErrPaused):
		return "paused"
	case tools.IsFatal(err):
		return "fatal"
	case ok:
		return cmp.Or(te.Kind, tools.KindFailed)
	default:
		return tools.KindFailed
	}
}

func (o *AuditOptions) attrs(ctx context.Context, c tools.Call, result json.RawMessage, err error, outcome string,
	took time.Duration) []slog.Attr {
	attrs := []slog.Attr{slog.String("tool", c.Tool.Path())}
	if c.Tool.Namespace != "" {
		attrs = append(attrs, slog.String("server", c.Tool.Namespace))
	}
	if id := effect.Of(ctx); id.Entry != "" {
		attrs = append(attrs, slog.String("run", id.Run), slog.Int("step", id.Step), slog.Int("attempt", id.Attempt),
			slog.String("entry", id.Entry))
	}
	if by := dispatch.Deciders(ctx, ""); len(by) > 0 {
		attrs = append(attrs, slog.String("approver", strings.Join(by, ", ")))
	}
	attrs = append(attrs,
		slog.String("class", c.Tool.Hints.Class.String()),
		slog.Int("call", c.ID), slog.Int("line", c.Line), slog.Int("column", c.Column),
		slog.String("outcome", outcome), slog.Duration("duration", took),
		slog.Int("args_bytes", len(c.Args)), slog.Int("result_bytes", len(result)))
	if !o.Content {
		return attrs
	}
	attrs = append(attrs, slog.String("args", string(o.Secrets.JSON(c.Args))),
		slog.String("source", o.Secrets.Text(sourceLine(c))))
	if err != nil {
		return append(attrs, slog.String("error", o.Secrets.Text(err.Error())))
	}
	return append(attrs, slog.String("result", string(o.Secrets.JSON(result))))
}
