package main

import "testing"

// TestMatched finds the requests that hold the slowest invocations.
func TestMatched(t *testing.T) {
	all := []request{
		{"order", 0, 100}, {"item", 10, 95}, {"order", 20, 90}, {"order", 200, 210}, {"cart", 300, 500},
	}
	got := matched([]invocation{
		{kind: "order", begin: 25, end: 85, took: 60}, // in two orders: the shorter one
		{kind: "order", begin: 10, end: 98, took: 88},
		{kind: "item", begin: 5, end: 90, took: 85}, // begins before its request
	}, all)
	if got != (match{found: 2, among: 1, beside: 12}) {
		t.Errorf("%+v", got)
	}
}

// TestInvocations reads a report.
func TestInvocations(t *testing.T) {
	got, r, err := invocations([]byte(`{"calls":9,"root_invocations":3,"events":{"words":18,"began_nanotime":1000},"slowest":{"invocations":[
		{"start_ns":5,"took_ns":7,"suspended_ns":2,"tree":{"method":"shop.FrontController.service()V","children":[{"method":"x.Y.z()V"},{"method":"shop.OrderAction.execute(LX;)V"}]}}]}}`))
	if err != nil || len(got) != 1 || got[0] != (invocation{"order", 1005, 7, 1014}) || r.Events.Words != 18 || r.Calls != 9 || r.Invocations != 3 {
		t.Errorf("%+v, %+v, %v", got, r, err)
	}
	if _, _, err := invocations([]byte(`{}`)); err == nil {
		t.Error("a report without events is no error")
	}
}
