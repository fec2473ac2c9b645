// The application in Go: `server PORT`, HTTP/1 and HTTP/2 in the clear on one port; `server PORT PORT CERTIFICATE KEY`
// has both in TLS besides.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

var here = os.Getenv("WORLD_DIR")

func main() {
	mux := map[string]http.HandlerFunc{
		"bytes": plain, "chunks": chunks, "file": file, "gzip": zipped, "redirect": redirect, "cookies": cookies,
		"status": status, "fields": fields, "slow": slow, "events": events, "upload": upload, "early": early,
		"hints": hints, "trailers": trailers,
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		r.SetPathValue("rest", rest)
		if route, found := mux[name]; found {
			route(w, r)
		} else {
			echo(w, r)
		}
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{Handler: http.HandlerFunc(handler), Protocols: &protocols}
	server.DisableGeneralOptionsHandler = true
	ended := make(chan struct{})
	if file := os.Getenv("WORLD_LOG"); file != "" {
		keepLog(&server, file)
		endWhenAsked(&server, ended)
	}
	if len(os.Args) > 4 {
		secure := listen(os.Args[2])
		go run(func() error { return server.ServeTLS(secure, os.Args[3], os.Args[4]) })
	}
	run(func() error { return server.Serve(listen(os.Args[1])) })
	<-ended
}

func listen(port string) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

func run(serve func() error) {
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

func reply(w http.ResponseWriter, code int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body)
}

func echo(w http.ResponseWriter, r *http.Request) {
	digest := sha1.New()
	total, _ := io.Copy(digest, r.Body)
	lines := []string{}
	for name, values := range r.Header {
		for _, value := range values {
			lines = append(lines, strings.ToLower(name)+": "+value)
		}
	}
	sort.Strings(lines)
	lines = append([]string{r.Method + " " + r.RequestURI, "host: " + r.Host}, lines...)
	for name, values := range r.Trailer {
		lines = append(lines, "trailer "+strings.ToLower(name)+": "+strings.Join(values, ", "))
	}
	lines = append(lines, fmt.Sprintf("body: %d %x", total, digest.Sum(nil)))
	reply(w, 200, "text/plain", []byte(strings.Join(lines, "\n")))
}

func number(r *http.Request) int {
	n, _ := strconv.Atoi(r.PathValue("rest"))
	return n
}

func plain(w http.ResponseWriter, r *http.Request) {
	reply(w, 200, "application/octet-stream", bytes.Repeat([]byte("x"), number(r)))
}

func chunks(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	for left := number(r); left > 0; left -= 50_000 {
		_, _ = w.Write(bytes.Repeat([]byte("x"), min(left, 50_000)))
		_ = http.NewResponseController(w).Flush()
	}
}

func file(w http.ResponseWriter, r *http.Request) {
	content, err := os.Open(here + "/file.bin")
	if err != nil {
		log.Fatal(err)
	}
	defer content.Close()
	about, _ := content.Stat()
	w.Header().Set("ETag", `"world-1"`)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "file.bin", about.ModTime(), content)
}

func zipped(w http.ResponseWriter, _ *http.Request) {
	var body bytes.Buffer
	writer := gzip.NewWriter(&body)
	_, _ = writer.Write(bytes.Repeat([]byte("zipped "), 1000))
	_ = writer.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Vary", "Accept-Encoding")
	reply(w, 200, "text/plain", body.Bytes())
}

func redirect(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", "/echo?redirected")
	reply(w, number(r), "text/plain", []byte("moved"))
}

func cookies(w http.ResponseWriter, _ *http.Request) {
	for _, cookie := range []string{"a=1; Path=/", "b=2; HttpOnly", `c="d e"; Max-Age=60`} {
		w.Header().Add("Set-Cookie", cookie)
	}
	reply(w, 200, "text/plain", []byte("cookies"))
}

func status(w http.ResponseWriter, r *http.Request) {
	switch code := number(r); code {
	case 204:
		w.WriteHeader(204)
		return
	case 401:
		w.Header().Set("WWW-Authenticate", `Basic realm="world"`)
	case 429, 503:
		w.Header().Set("Retry-After", "7")
	}
	reply(w, number(r), "text/plain", []byte("status "+r.PathValue("rest")))
}

func fields(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Disposition", "attachment; filename=\"\xdcber.csv\"")
	w.Header().Set("X-Long", strings.Repeat("l", 6000))
	for count := range 40 {
		w.Header().Add("X-Many", strconv.Itoa(count))
	}
	reply(w, 200, "text/plain", []byte("fields"))
}

func slow(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(300 * time.Millisecond)
	reply(w, 200, "text/plain", []byte("slow"))
}

func events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	count, _ := strconv.Atoi(r.FormValue("n"))
	for number := range count {
		fmt.Fprintf(w, "data: %d\n\n", number)
		_ = http.NewResponseController(w).Flush()
		if !waitFor(fmt.Sprintf("%s/%s.%d", here, r.FormValue("id"), number)) {
			fmt.Fprint(w, "data: not acknowledged\n\n")
			return
		}
	}
}

// waitFor says whether the client made this file, which it does when it has what was sent.
func waitFor(file string) bool {
	for range 1000 {
		if _, err := os.Stat(file); err == nil {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

func upload(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	piece := make([]byte, 1000)
	total := 0
	for {
		length, err := r.Body.Read(piece)
		for number := total/1000 + 1; number <= (total+length)/1000; number++ {
			_ = os.WriteFile(fmt.Sprintf("%s/%s.%d", here, id, number*1000), nil, 0o600)
		}
		total += length
		if err != nil {
			break
		}
	}
	reply(w, 200, "text/plain", fmt.Appendf(nil, "got %d", total))
}

func early(w http.ResponseWriter, _ *http.Request) {
	reply(w, 413, "text/plain", []byte("too much"))
}

func hints(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Link", "</a.css>; rel=preload; as=style")
	w.WriteHeader(103)
	time.Sleep(50 * time.Millisecond)
	w.Header().Del("Link")
	reply(w, 200, "text/plain", []byte("hints"))
}

func trailers(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Trailer", "X-Sum")
	_, _ = w.Write([]byte("trailers"))
	_ = http.NewResponseController(w).Flush()
	w.Header().Set("X-Sum", "99")
}
