package main

// What the counts suite reads: a line for each request when its handler is through, `done` if nothing was in its way.

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

type connectionKey struct{}

// keepLog has a server write METHOD URL STATUS BYTES CONNECTION VERSION done|cut.
func keepLog(server *http.Server, file string) {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	var connections atomic.Int64
	server.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, connections.Add(1))
	}
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := &countedWriter{ResponseWriter: w, context: r.Context(), status: 200}
		next.ServeHTTP(counted, r)
		end := "done"
		// Who has the whole of a length that was told may close while this is written; all others wait for the end.
		isWhole := w.Header().Get("Content-Length") == strconv.Itoa(counted.bytes) && !counted.left
		if counted.failed || (r.Context().Err() != nil && !isWhole) {
			end = "cut"
		}
		if r.Method == http.MethodHead {
			counted.bytes = 0
		}
		connection := r.Context().Value(connectionKey{})
		fmt.Fprintf(out, "%s %s %d %d %d %s %s\n",
			r.Method, r.RequestURI, counted.status, counted.bytes, connection, r.Proto, end)
	})
}

// countedWriter knows what was answered.
type countedWriter struct {
	http.ResponseWriter
	context context.Context
	status  int
	bytes   int
	failed  bool
	// left says whether the client had gone when the last piece was to be written.
	left bool
}

func (c *countedWriter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *countedWriter) Write(piece []byte) (int, error) {
	c.left = c.context.Err() != nil
	count, err := c.ResponseWriter.Write(piece)
	c.bytes += count
	c.failed = c.failed || err != nil
	return count, err
}

// Unwrap lets http.ResponseController reach the writer below.
func (c *countedWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// endWhenAsked ends as servers in production do: no new requests, a moment for those under way.
func endWhenAsked(server *http.Server, ended chan<- struct{}) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	go func() {
		<-asked
		patience, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(patience)
		close(ended)
	}()
}
