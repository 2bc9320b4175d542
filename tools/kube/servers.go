//go:build tools

package kube

import (
	_ "go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/cri-streaming/pkg/streaming/remotecommand"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
)
