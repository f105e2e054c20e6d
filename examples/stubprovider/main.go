// Stubprovider serves the protocols of OpenAI, Anthropic and Ollama on one port, so
// that one can try the examples without a key:
//
//	go run ./examples/stubprovider
//
// It refuses what the providers refuse, and answers every question with the same
// reply.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/writ-go/writ/module/llmtest/stub"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8123", "where to listen")
	text := flag.String("reply", `{"mood": "bad", "score": 0.1}`,
		"the answer to every question; the default fits mood: str, score: float")
	flag.Parse()
	if err := serve(*addr, *text, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "stubprovider:", err)
		os.Exit(1)
	}
}

func serve(addr, text string, w io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprint(w, commands("http://"+listener.Addr().String()))
	server := &http.Server{Handler: handler(text), ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}

// handler answers every question of the three protocols with a text.
func handler(text string) http.Handler {
	o := &stub.Options{Answer: func(stub.Request) stub.Reply { return stub.Reply{Text: text} }}
	mux := http.NewServeMux()
	mux.Handle("/openai/", http.StripPrefix("/openai", stub.OpenAI(o)))
	mux.Handle("/anthropic/", http.StripPrefix("/anthropic", stub.Anthropic(o)))
	mux.Handle("/ollama/", http.StripPrefix("/ollama", stub.Ollama(o)))
	return mux
}

// commands are what to try with the server at a URL.
func commands(url string) string {
	text := "Try, from another terminal:\n"
	for _, try := range []struct{ environment, model string }{
		{"OPENAI_API_KEY=test-key OPENAI_BASE_URL=" + url + "/openai", "openai:gpt-5.1"},
		{"ANTHROPIC_API_KEY=test-key ANTHROPIC_BASE_URL=" + url + "/anthropic", "anthropic:claude-sonnet-4-5"},
		{"OLLAMA_HOST=" + url + "/ollama", "ollama:qwen3"},
	} {
		text += "\n" + try.environment + " \\\n  go run ./examples/predict -model " + try.model + " \\\n  " +
			`'review -> mood: Literal["good","bad"], score: float(ge=0, le=1)' review="Broke twice."` + "\n"
	}
	return text
}
