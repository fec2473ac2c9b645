// Pages that make garbage beside a large heap of small objects, which is looked through each time that it is collected.
//
//	garbage ADDRESS PORT
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
)

type order struct {
	next  *order
	lines []*order
	text  [40]byte
}

var (
	lock sync.Mutex
	kept [40000]*order
	at   int
)

func page(response http.ResponseWriter, _ *http.Request) {
	for range 60 {
		made := &order{lines: make([]*order, 4)}
		for i := range made.lines {
			made.lines[i] = &order{}
		}
		lock.Lock()
		kept[at] = made
		at = (at + 1) % len(kept)
		lock.Unlock()
	}
	fmt.Fprintln(response, "done")
}

func main() {
	http.HandleFunc("/", page)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1]+":"+os.Args[2], nil))
}
