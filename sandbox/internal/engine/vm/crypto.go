package vm

import (
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"strconv"

	"github.com/dop251/goja"
)

// crypto returns the global crypto, with randomUUID and getRandomValues of the Web Crypto API.
func (r *machine) crypto() goja.Value {
	object := r.vm.NewObject()
	must(object.Set("randomUUID", r.function("randomUUID", r.randomUUID)))
	must(object.Set("getRandomValues", r.function("getRandomValues", r.randomValues)))
	return object
}

// randomUUID returns a version 4 UUID.
func (r *machine) randomUUID(goja.FunctionCall) goja.Value {
	b := r.randomBytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b)
	return r.vm.ToValue(text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:])
}

// maxRandom is getRandomValues' limit on the Web.
const maxRandom = 65536

// randomValues fills an integer array with random values.
func (r *machine) randomValues(fc goja.FunctionCall) goja.Value {
	array, ok := fc.Argument(0).(*goja.Object)
	if !ok || array.ExportType().Kind() != reflect.Slice || array.Get("BYTES_PER_ELEMENT") == nil {
		panic(r.typeError("crypto.getRandomValues needs an array of integers, such as new Uint8Array(16)"))
	}
	length := int(array.Get("length").ToInteger())
	size := int(array.Get("BYTES_PER_ELEMENT").ToInteger())
	if length*size > maxRandom {
		panic(r.typeError("crypto.getRandomValues returns at most 65536 bytes"))
	}
	for i := range length {
		must(array.Set(strconv.Itoa(i), int64(r.clock.uint64()>>(64-8*min(size, 6)))))
	}
	return array
}

func (r *machine) randomBytes(n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, r.clock.uint64())
	}
	return b[:n]
}
