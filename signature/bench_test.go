package signature_test

import (
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/signature"
)

type (
	twoIn struct {
		Question string `json:"question"`
		Context  string `json:"context"`
	}
	twoOut struct {
		Answer string `json:"answer"`
		Score  int    `json:"score"`
	}
)

// The floor of both is encoding/json alone.

func BenchmarkEncode(b *testing.B) {
	s := signature.Must(signature.New[twoIn, twoOut]("Answer."))
	in := twoIn{"Who wrote it?", "It was written by somebody who is not known, a long time ago, and found in an attic."}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Encode(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeFloor(b *testing.B) {
	in := twoIn{"Who wrote it?", "It was written by somebody who is not known, a long time ago, and found in an attic."}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	s := signature.Must(signature.New[twoIn, twoOut]("Answer."))
	raw := []byte(`{"answer": "Nobody knows.", "score": 7}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeFloor(b *testing.B) {
	raw := []byte(`{"answer": "Nobody knows.", "score": 7}`)
	b.ReportAllocs()
	for b.Loop() {
		var out twoOut
		if err := json.Unmarshal(raw, &out); err != nil {
			b.Fatal(err)
		}
	}
}
