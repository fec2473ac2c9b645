//go:build tools

// Package tools pins the conformance test of HTTP/2 servers: see tools/need.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
