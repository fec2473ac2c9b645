// Pages that need the processor, and in the next phase a lock: phases ADDRESS PORT PHASE BURN HOLD
//
// They burn BURN of the processor for PHASE, then hold the lock for HOLD each, without the processor, for as long again.
package main

import (
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const threadTime = 3 // CLOCK_THREAD_CPUTIME_ID

func used() time.Duration {
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadTime, uintptr(unsafe.Pointer(&now)), 0)
	return time.Duration(now.Nano())
}

func burn(span time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for end := used() + span; used() < end; {
	}
}

func main() {
	var spans [3]time.Duration
	for at := range spans {
		span, err := time.ParseDuration(os.Args[3+at])
		if err != nil {
			panic(err)
		}
		spans[at] = span
	}
	began := time.Now()
	var lock sync.Mutex
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		if spans[0] == 0 || time.Since(began)/spans[0]%2 == 0 {
			burn(spans[1])
		} else {
			lock.Lock()
			time.Sleep(spans[2])
			lock.Unlock()
		}
		response.Write([]byte("done\n"))
	})
	panic(http.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), nil))
}
