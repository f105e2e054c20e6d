// Package telemetry makes OpenTelemetry traces and metrics from the events of runs.
//
//	t, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
//	…
//	pred, err := bot.Run(t.Observe(ctx), agent.Task{Task: "…"})
//
// The names follow version 1.41.0 of the OpenTelemetry semantic conventions for generative AI
// (https://opentelemetry.io/schemas/1.41.0); names that the conventions lack begin with "writ.". This package needs only
// the API of OpenTelemetry. The caller chooses the SDK and the exporters: examples/telemetry has both.
//
// # Spans
//
//	invoke_agent NAME            a run of a module
//	└─ step                      a step of the run
//	   ├─ chat MODEL             a request to the model
//	   └─ program                a program
//	      ├─ check               waiting for a worker, and checking the program
//	      └─ execute_tool TOOL   a tool call
//	         └─ invoke_agent …   a run that the tool starts with the context that it gets
//
// A run within another run, such as an attempt, is a child of the span in its context or, without one, of the innermost
// span of the enclosing run. The tool calls of a ReAct are children of its steps.
//
// # Metrics
//
//	gen_ai.client.operation.duration   s        model requests (chat) and runs (invoke_agent)
//	gen_ai.client.token.usage          {token}  input and output tokens of model requests
//	writ.tool.call.duration            s        tool calls
//	writ.program.duration              s        programs
//
// # Contents
//
// Without Options.Contents, neither the spans nor the metrics have prompts, replies, programs, arguments, results, or
// the text of errors. The attribute error.type has a kind of error, or the Go type of an error.
package telemetry
