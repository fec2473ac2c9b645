// Pages of a process whose memory is full of small objects: heap ADDRESS PORT OBJECTS BYTES PERCENT
//
// Each page allocates so many bytes; the collector runs whenever the heap has grown by PERCENT (GOGC).
package main

import (
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
)

type entry struct {
	next, other *entry
	value       [4]int64
}

var kept []*entry

func main() {
	objects, _ := strconv.Atoi(os.Args[3])
	bytes, _ := strconv.Atoi(os.Args[4])
	percent, _ := strconv.Atoi(os.Args[5])
	kept = make([]*entry, objects)
	for at := range kept {
		kept[at] = &entry{}
		if at > 0 {
			kept[at].next = kept[at-1]
			kept[at].other = kept[at*7919%at]
		}
	}
	debug.SetGCPercent(percent)
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		parts := make([][]byte, 0, bytes/4096)
		for range bytes / 4096 {
			parts = append(parts, make([]byte, 4096))
		}
		response.Write(parts[0][:100])
	})
	panic(http.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), nil))
}
