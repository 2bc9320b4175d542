//go:build !amd64

package sampler

var oldCalls map[int]bool
