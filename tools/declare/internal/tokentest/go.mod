module github.com/writ-go/writ/tools/declare/internal/tokentest

go 1.26.0

require github.com/writ-go/writ v0.0.0

require (
	github.com/dlclark/regexp2/v2 v2.5.2 // indirect
	github.com/tiktoken-go/tokenizer v0.10.0 // indirect
)

replace github.com/writ-go/writ => ../../../..
