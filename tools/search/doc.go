// Package search finds tools that are not declared in a prompt, by the words of their names and
// descriptions, and by misspelled names.
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
//		hits, err := search.New(set, 4000).Search(context.Background(), "refund an order", nil)
//		if err != nil {
//			panic(err)
//		}
//		for _, hit := range hits {
//			fmt.Println(hit.Name, hit.Description)
//		}
//	}
//
// Tools are ranked by Okapi BM25 over the words of their names, servers, descriptions and
// parameters. A word in a name counts most, and a rare word counts more than a word that many
// tools have. Letter case, plural endings and common words such as "the" do not matter. A word
// that no tool has is replaced by the most similar word in a tool's name, so that a misspelled
// name is found. The search does not know synonyms: a query should use words that are likely to
// occur in the tool's description, and a model can try again with other words.
//
// With an embedder, [Index.ByMeaning] also finds tools by other words than their own. Modules and package codemode have
// an option for it. The embedders of langchaingo fit as they are:
//
//	client, err := openai.New(openai.WithEmbeddingModel("text-embedding-3-small"))
//	embedder, err := embeddings.NewEmbedder(client)
//	o := &module.Options{Embedder: search.Cached(embedder)} // each tool is embedded once for all modules with o
//
// # What programs see
//
// [Index.Extended] adds two tools to a set, tools.search and tools.describe. Programs in modules and in code mode
// always have them, so that a program can use tools whose declarations the prompt omits (see
// module.Options.DeclarationTokens):
//
//	const hits = await tools.search("refund order", {server: "shop", limit: 3});
//	// [{name: "shop.refund", description: "Refund one order."}, …]
//	console.log(await tools.describe(hits.map(h => h.name))); // their declarations, in full
//
// With {declare: true}, the first few hits include their declarations. The limit is at most
// 50. If a search finds nothing, its result is [] and a warning lists the servers, or the
// tools if there are few.
//
// tools.describe takes one name, several names, or a family of names such as shop.{get,list}_order. For a server's
// name, or a prefix of several names, it lists the tools and says which are read-only. It accepts names in other
// spellings, such as the server's own, and misspelled names; the declaration shows the correct name. If no name is
// similar, it throws a ToolError of kind unknown_tool that lists what exists. Programs call the tools by their names as
// globals:
//
//	await shop.refund({id: "a1"});
//
// Both are tools of class Read. Their calls count toward the call limit and are recorded in the journal. Policies do
// not apply to them, because they reveal only the set's tools.
package search
