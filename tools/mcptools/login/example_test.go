package login_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/mcptools/login"
)

// A program uses the tokens of an earlier login. Without a login, the error says what to do.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	config, err := mcptools.ParseConfig([]byte(`{"mcpServers": {"tickets": {"url": "`+server.URL+`"}}}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "logins")
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(folder); err != nil {
			log.Print(err)
		}
	}()

	logins := login.New(&login.Options{Command: "mytool -login", Folder: folder, NoKeyring: true})
	_, err = mcptools.Start(context.Background(), config, &mcptools.Options{OAuth: logins.Handler})
	_, advice, _ := strings.Cut(err.Error(), "; ")
	fmt.Println(advice)
	// Output: to log in with OAuth, run mytool -login tickets
}
