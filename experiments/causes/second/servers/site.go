// A site in Go, or what stands behind another one; its flags say what each page does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

var (
	listen      = flag.String("listen", "127.0.0.1:8080", "address and port")
	backlog     = flag.Int("backlog", 511, "length of the listen queue")
	acceptPause = flag.Duration("accept-pause", 0, "nothing is accepted for so long")
	acceptEvery = flag.Duration("accept-every", 0, "at these intervals")
	wait        = flag.Duration("wait", 0, "wait")
	places      = flag.Int("places", 0, "so many pages wait at once; 0: any number")
	hold        = flag.Duration("hold", 0, "wait with the mutex")
	reload      = flag.Duration("reload", 0, "the mutex is held for so long")
	reloadEvery = flag.Duration("reload-every", 0, "at these intervals")
	burn        = flag.Duration("burn", 0, "processor time")
	ask         = flag.String("ask", "", "URL that is asked")
	fresh       = flag.Bool("fresh", false, "a connection of its own for each question")
	size        = flag.Int("size", 16, "bytes of the answer")
	ledger      = flag.String("ledger", "", "directory with a file for each of 64 accounts, that are written and synchronised")
	entry       = flag.Int("entry", 4096, "bytes that are written there")
	archive     = flag.String("archive", "", "file of which blocks are read")
	block       = flag.Int("block", 1<<20, "bytes of these")
)

// The listener of a program that does something else instead of accepting, now and then.
type pausing struct{ net.Listener }

func (from pausing) Accept() (net.Conn, error) {
	if *acceptEvery > 0 {
		if phase := time.Duration(time.Now().UnixNano()) % *acceptEvery; phase < *acceptPause {
			time.Sleep(*acceptPause - phase)
		}
	}
	return from.Listener.Accept()
}

func threadTime() time.Duration {
	var used syscall.Rusage
	syscall.Getrusage(1, &used) // RUSAGE_THREAD
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func compute(span time.Duration) {
	sum := 0
	// Within some 200 us the goroutine mostly stays on its thread.
	for done := time.Duration(0); done < span; {
		begun := threadTime()
		for at := 0; at < 100000; at++ {
			sum += at ^ sum>>3
		}
		if step := threadTime() - begun; step > 0 && step < 5*time.Millisecond {
			done += step
		} else {
			done += 50 * time.Microsecond
		}
	}
	if sum == 42 {
		fmt.Fprintln(os.Stderr, sum)
	}
}

func main() {
	flag.Parse()
	var mutex, rows sync.Mutex
	var slots chan struct{}
	if *places > 0 {
		slots = make(chan struct{}, *places)
	}
	body := make([]byte, *size)
	for at := range body {
		body[at] = 'a' + byte(at%26)
	}
	var accounts chan *os.File
	if *ledger != "" {
		accounts = make(chan *os.File, 64)
		for at := 0; at < 64; at++ {
			file, err := os.OpenFile(fmt.Sprintf("%s/account-%d", *ledger, at), os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				panic(err)
			}
			accounts <- file
		}
	}
	var records *os.File
	var blocks int64
	if *archive != "" {
		file, err := os.Open(*archive)
		if err != nil {
			panic(err)
		}
		about, _ := file.Stat()
		records, blocks = file, about.Size()/int64(*block)
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: *fresh, MaxIdleConnsPerHost: 1000, DialContext: (&net.Dialer{}).DialContext,
	}}
	http.HandleFunc("/", func(to http.ResponseWriter, request *http.Request) {
		if *burn > 0 {
			compute(*burn)
		}
		if *hold > 0 {
			mutex.Lock()
			time.Sleep(*hold)
			mutex.Unlock()
		}
		if *wait > 0 {
			if slots != nil {
				slots <- struct{}{}
			}
			time.Sleep(*wait)
			if slots != nil {
				<-slots
			}
		}
		if accounts != nil {
			file := <-accounts
			file.WriteAt(make([]byte, *entry), 0)
			file.Sync()
			accounts <- file
		}
		if records != nil {
			rows.Lock()
			at := rand.Int63n(blocks)
			rows.Unlock()
			records.ReadAt(make([]byte, *block), at*int64(*block))
		}
		if *ask != "" {
			answer, err := client.Get(*ask)
			if err != nil {
				http.Error(to, err.Error(), http.StatusBadGateway)
				return
			}
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		to.Write(body)
	})
	if *reloadEvery > 0 {
		go func() {
			for {
				time.Sleep(*reloadEvery - *reload)
				mutex.Lock()
				time.Sleep(*reload)
				mutex.Unlock()
			}
		}()
	}
	config := net.ListenConfig{}
	at, err := config.Listen(context.Background(), "tcp", *listen)
	if err != nil {
		panic(err)
	}
	raw, _ := at.(*net.TCPListener).SyscallConn()
	raw.Control(func(descriptor uintptr) { syscall.Listen(int(descriptor), *backlog) })
	panic(http.Serve(pausing{at}, nil))
}
