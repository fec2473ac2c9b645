// Pages for so many requests a second, and 429 for all others: limiter ADDRESS PORT RATE BURST
package main

import (
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

type bucket struct {
	sync.Mutex
	rate, burst, tokens float64
	last                time.Time
}

func (b *bucket) take() bool {
	b.Lock()
	defer b.Unlock()
	now := time.Now()
	b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.last).Seconds())
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

func main() {
	rate, _ := strconv.ParseFloat(os.Args[3], 64)
	burst, _ := strconv.ParseFloat(os.Args[4], 64)
	all := &bucket{rate: rate, burst: burst, tokens: burst, last: time.Now()}
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		if !all.take() {
			response.Header().Set("Retry-After", "1")
			http.Error(response, "too many requests", http.StatusTooManyRequests)
			return
		}
		time.Sleep(3 * time.Millisecond)
		response.Write([]byte("quota left\n"))
	})
	panic(http.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), nil))
}
