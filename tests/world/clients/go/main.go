// The client of Go's net/http: `client 1|2 [AUTHORITY]` reads jobs as an array of JSON from standard input, writes a
// line with what became of each.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
)

const (
	piece  = 1000
	missed = "piece not seen before the next one"
)

type job struct {
	ID, URL, Here, Path, Method, Kind string
	Headers                           [][2]string
	Body                              *int
	Chunked                           bool
}

type outcome struct {
	ID       string      `json:"id"`
	Status   int         `json:"status"`
	Reason   *string     `json:"reason"`
	Fields   [][2]string `json:"fields"`
	Trailers [][2]string `json:"trailers"`
	Body     []byte      `json:"body"`
	Facts    []string    `json:"facts"`
	Error    *string     `json:"error"`
}

func main() {
	client := http.Client{Transport: transport(), Timeout: 20 * time.Second}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var jobs []job
	if err := json.NewDecoder(os.Stdin).Decode(&jobs); err != nil {
		panic(err)
	}
	told := json.NewEncoder(os.Stdout)
	for _, one := range jobs {
		found := outcome{ID: one.ID, Facts: []string{}}
		if err := run(&client, one, &found); err != nil {
			said := err.Error()
			found.Error = &said
		}
		_ = told.Encode(found)
	}
}

func transport() *http.Transport {
	var protocols http.Protocols
	made := http.Transport{Protocols: &protocols, DisableCompression: true, ExpectContinueTimeout: 5 * time.Second}
	secure := len(os.Args) > 2
	protocols.SetHTTP1(os.Args[1] == "1")
	protocols.SetHTTP2(os.Args[1] == "2")
	protocols.SetUnencryptedHTTP2(os.Args[1] == "2")
	if secure {
		authority, err := os.ReadFile(os.Args[2])
		if err != nil {
			panic(err)
		}
		made.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		made.TLSClientConfig.RootCAs.AppendCertsFromPEM(authority)
	}
	return &made
}

func run(client *http.Client, one job, found *outcome) error {
	sent := make(chan struct{})
	request, err := http.NewRequest(one.Method, one.URL+one.Path, body(one, found, sent))
	if err != nil {
		return err
	}
	if one.Body != nil && !one.Chunked {
		each := map[bool]int{true: piece, false: 1}[one.Kind == "upload"]
		request.ContentLength = int64(*one.Body * each)
	}
	for _, field := range one.Headers {
		request.Header.Add(field[0], field[1])
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	found.Status = response.StatusCode
	if response.ProtoMajor == 1 {
		_, reason, _ := strings.Cut(response.Status, " ")
		found.Reason = &reason
	}
	if one.Kind == "upload" {
		<-sent
	}
	if one.Kind == "events" {
		return events(response.Body, one, found)
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	found.Body = content
	if one.Kind == "request" {
		found.Fields, found.Trailers = pairs(response.Header), pairs(response.Trailer)
	}
	return nil
}

// pairs are in the order of names: Go does not keep that in which they came.
func pairs(header http.Header) [][2]string {
	found := [][2]string{}
	for name, values := range header {
		for _, value := range values {
			// JSON has no bytes that are not UTF-8.
			runes := make([]rune, 0, len(value))
			for _, one := range []byte(value) {
				runes = append(runes, rune(one))
			}
			found = append(found, [2]string{name, string(runes)})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i][0] < found[j][0] })
	return found
}

func body(one job, found *outcome, sent chan struct{}) io.Reader {
	if one.Body == nil {
		return nil
	}
	if one.Kind != "upload" {
		content := io.Reader(bytes.NewReader(bytes.Repeat([]byte("b"), *one.Body)))
		if one.Chunked {
			return struct{ io.Reader }{content}
		}
		return content
	}
	reader, writer := io.Pipe()
	go func() {
		for number := 1; number <= *one.Body; number++ {
			_, _ = writer.Write(bytes.Repeat([]byte("b"), piece))
			if number > 1 {
				mark := fmt.Sprintf("%s/%s.%d", one.Here, one.ID, (number-1)*piece)
				found.Facts = append(found.Facts, seen(mark, found.Facts))
			}
		}
		_ = writer.Close()
		close(sent)
	}()
	return reader
}

// seen says whether the server has made this file, which it does when a piece has come; it waits for one missed piece only.
func seen(mark string, facts []string) string {
	for range 1000 {
		if _, err := os.Stat(mark); err == nil {
			return "piece seen"
		}
		if slices.Contains(facts, missed) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return missed
}

func events(body io.Reader, one job, found *outcome) error {
	buffer := make([]byte, 1000)
	for {
		length, err := body.Read(buffer)
		for _, line := range strings.Split(string(buffer[:length]), "\n\n") {
			if line != "" {
				_ = os.WriteFile(fmt.Sprintf("%s/%s.%d", one.Here, one.ID, len(found.Facts)), nil, 0o600)
				found.Facts = append(found.Facts, line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
