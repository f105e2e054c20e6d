package models_test

import (
	"net/http"
	"testing"

	"github.com/writ-go/writ/module/models"
)

// idle is a transport that counts.
type idle struct {
	http.RoundTripper
	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

// The client's connections can be closed through the transport.
func TestCloseIdleConnections(t *testing.T) {
	t.Parallel()
	base := &idle{}
	client := &http.Client{Transport: &models.Transport{Base: base}}
	client.CloseIdleConnections()
	(&http.Client{Transport: &models.Transport{Base: http.NewFileTransport(http.Dir("."))}}).CloseIdleConnections()
	if base.closed != 1 {
		t.Errorf("closed %d times", base.closed)
	}
}
