// A service that others ask over HTTP: it waits, and says so. The number in the path is how many milliseconds it waits.
package main

import (
	"flag"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8081", "where it listens")
	wait := flag.Float64("wait", 0, "milliseconds that each answer takes, besides those in the path")
	places := flag.Int("places", 0, "answers under way at once; 0: any number")
	stall := flag.Duration("stall", 0, "how long it stands still, again and again")
	every := flag.Duration("every", time.Second, "from the beginning of one stall to the next")
	size := flag.Int("bytes", 20, "of an answer")
	flag.Parse()

	var still sync.RWMutex
	if *stall > 0 {
		go func() {
			for range time.Tick(*every) {
				still.Lock()
				time.Sleep(*stall)
				still.Unlock()
			}
		}()
	}
	var free chan struct{}
	if *places > 0 {
		free = make(chan struct{}, *places)
	}
	answer := []byte(strings.Repeat("partner\n", *size/8+1))[:*size]
	page := func(out http.ResponseWriter, request *http.Request) {
		if free != nil {
			free <- struct{}{}
			defer func() { <-free }()
		}
		still.RLock()
		defer still.RUnlock()
		asked, _ := strconv.ParseFloat(strings.Trim(request.URL.Path, "/"), 64)
		time.Sleep(time.Duration((*wait + asked) * float64(time.Millisecond)))
		out.Write(answer)
	}
	panic(http.ListenAndServe(*listen, http.HandlerFunc(page)))
}
