# tools/journal/durable.go A log that is opened again has no outcomes.
s/^\tfor _, op := range list\[1:\] {$/&\n\t\tif op.Op == opSettle {\n\t\t\tcontinue\n\t\t}/
