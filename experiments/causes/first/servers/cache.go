// Pages of a cache that is filled under a lock: cache ADDRESS PORT [-fill D] [-every D -rebuild D]
//
// Each page holds the lock for -fill. With -every the cache is built anew at these intervals, which holds the lock for
// -rebuild.
package main

import (
	"flag"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	options := flag.NewFlagSet("cache", flag.ExitOnError)
	fill := options.Duration("fill", 0, "how long a page holds the lock")
	every := options.Duration("every", 0, "how often the cache is built anew")
	rebuild := options.Duration("rebuild", 0, "how long that holds the lock")
	options.Parse(os.Args[3:])

	var lock sync.Mutex
	if *every > 0 {
		go func() {
			for range time.Tick(*every) {
				lock.Lock()
				time.Sleep(*rebuild)
				lock.Unlock()
			}
		}()
	}
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		lock.Lock()
		time.Sleep(*fill)
		lock.Unlock()
		response.Write([]byte("cached\n"))
	})
	panic(http.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), nil))
}
