module github.com/writ-go/writ/tools/declare/internal/tokentest

go 1.26.0

require (
	github.com/tiktoken-go/tokenizer v0.10.0
	github.com/writ-go/writ v0.0.0
)

require (
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.2 // indirect
	github.com/dlclark/regexp2/v2 v2.5.2 // indirect
	github.com/invopop/jsonschema v0.14.0 // indirect
	github.com/pb33f/ordered-map/v2 v2.3.1 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/text v0.28.0 // indirect
)

replace github.com/writ-go/writ => ../../../..
