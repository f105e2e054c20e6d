# tools/journal/rules.go A read is answered from the record.
s/^\tif q.class == tools.Read { \/\/ rule 1$/&\n\t\tif e := q.unconsumed(); e != nil {\n\t\t\treturn e, nil\n\t\t}/
