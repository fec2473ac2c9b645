// Each page looks up the name of the service that it needs: names ADDRESS PORT RESOLVER
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
)

func main() {
	dialer := net.Dialer{}
	resolver := net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, net.JoinHostPort(os.Args[3], "53"))
		},
	}
	var users atomic.Int64
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		name := fmt.Sprintf("tenant-%d.example.internal.", users.Add(1))
		addresses, err := resolver.LookupIP(request.Context(), "ip4", name)
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(response, addresses[0])
	})
	panic(http.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), nil))
}
