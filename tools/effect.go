package tools

import (
	"context"

	"github.com/writ-go/writ/internal/effect"
)

// EffectID returns the ID of the effect of a call, given the context of the call's handler, such as r-7f3a:E7. If a
// call whose outcome is unknown is made again, the ID is the same; a call that repeats an effect on purpose has another
// one. A handler can pass the ID to a service as an idempotency key. EffectID returns "" for a call that no journal
// records.
func EffectID(ctx context.Context) string {
	if id := effect.Of(ctx); id.Entry != "" {
		return id.String()
	}
	return ""
}
