// Package search finds the right tool among thousands, by what somebody needs.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//
//		"github.com/writ-go/writ/tools"
//		"github.com/writ-go/writ/tools/search"
//	)
//
//	type Order struct {
//		ID string `json:"id"`
//	}
//
//	func refund(ctx context.Context, o Order) (bool, error) { return true, nil }
//	func track(ctx context.Context, o Order) (string, error) { return "on its way", nil }
//
//	func main() {
//		set, err := tools.NewSet(context.Background(),
//			tools.Func("refund", "Refund one order.", refund, nil),
//			tools.Func("track", "Where a parcel is.", track, nil))
//		if err != nil {
//			panic(err)
//		}
//		for _, hit := range search.New(set).Search("give the money back", nil) {
//			fmt.Println(hit.Name, hit.Description)
//		}
//	}
//
// It compares words: those of a tool's name, its server, its description and its
// arguments with those of the query, without their endings, and with their synonyms;
// names may be misspelled. The words are weighed as BM25F does: one that few tools have
// says more than one that many have, and one in a name more than one in the description
// of an argument. A tool that shares too little with the query is not a hit, so that a
// search for what no tool does usually finds nothing. There is no model behind it and no
// network. The synonyms are English.
//
// # What programs see
//
// Every program that is given tools has two more functions, whatever is declared
// of the tools to the model, which module.Options.DeclarationTokens decides:
//
//	const hits = await tools.search("give the money back", {server: "shop", limit: 3});
//	// [{name: "shop.refund", description: "Refund one order."}, …]
//	console.log(await tools.describe(hits.map(h => h.name))); // their declarations, in full
//
// With {declare: true}, the first few hits also have their declaration. A limit is
// clamped to 50. If a search finds nothing, its result is [] and a warning says which
// servers there are and how many tools each has.
//
// tools.describe takes one name or several, and a family of names such as
// shop.{get,list}_order. For a server's name, or for what begins the names of several
// tools, it lists these tools and says which are read-only. A name in another spelling,
// such as the server's own, and one that is misspelled stand for the tool that is meant;
// the declaration shows the name to write.
// If nothing is near, the error is a ToolError of kind unknown_tool, which says what
// there is. What was found is called as any other tool, by its name as a global:
//
//	await shop.refund({id: "a1"});
//
// Both have no effect, and no policy or journal is told of them.
package search
