// Package openapi makes the operations of an OpenAPI 3.0 or 3.1 document callable: each is a tool, with the types
// of the document.
//
//	api, err := openapi.Open("shop.yaml", &openapi.Options{
//		Prepare: func(r *http.Request) error {
//			r.Header.Set("Authorization", "Bearer "+token)
//			return nil
//		},
//	})
//	set, err := tools.NewSet(ctx, api)
//
// The namespace of a tool is the API's name; the tool's name is the operation's first tag with its ID, or its method
// and path: shop.orders_list({status: "open"}). The parameters in the path, the query and the
// headers are arguments, and so are the members of a body that is an object. Any other body is the argument body.
// If a name occurs twice, the later argument has its place before its name: body_id.
//
// A result is the JSON or the text of a successful response, and has the type of the document; it is not checked,
// since many documents are inexact. A large schema is cut: what is nested deepest accepts any value. Defaults are
// part of the descriptions, and are not sent.
//
// # Effects
//
// GET and HEAD are tools of the class [tools.Read], also for policies: the host chooses the document, and HTTP
// defines these methods as safe. All other operations are of the class [tools.Effect], and DELETE is destructive.
// Use [tools.WithHints] where an API differs. An operation with a header Idempotency-Key gets [tools.EffectID] in
// it.
//
// An error of the API is a [tools.ToolError] with the response as its data. Its kind is [tools.KindUnavailable]
// only if the request was not sent, or the status by its definition says that it was not processed, such as 401,
// 415 and 429. It is [tools.KindUnknown] or [tools.KindTimeout] if there was no answer, also for the gateways' 502
// and 504, and [tools.KindFailed] for all other statuses. Requests are never repeated; package policy can.
//
// # Limits
//
// Requests go only to one origin, that of the document or of Options.BaseURL, and up to five redirects are
// followed within it. A program cannot set credentials, cookies, or headers of the protocol, and its arguments
// cannot lead out of the path of an operation. Operations with other bodies than JSON, forms and text, such as
// multipart, and those on other servers, are left out; [API.Warnings] lists them.
package openapi
