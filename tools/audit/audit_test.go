package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for text, want := range map[string]string{
		"MIT License\n\nPermission is hereby granted, free of charge, to any person\nobtaining a copy of ... The above copyright notice and this permission\nnotice shall be included in all copies": "MIT",
		"Redistribution and use in source and binary forms, ... Neither the name of X may be used to endorse or promote products":                                                                    "BSD-3-Clause",
		"Redistribution and use in source and binary forms, ... Redistributions in binary form must reproduce the above":                                                                             "BSD-2-Clause",
		"Apache License\n   Version 2.0, January 2004":                                                         "Apache-2.0",
		"Mozilla Public License, version 2.0\n ... \"Secondary License\" means the GNU General Public License": "MPL-2.0",
		"GNU GENERAL PUBLIC LICENSE\n Version 3":                                                               "",
		"GNU AFFERO GENERAL PUBLIC LICENSE\n with the Apache License, Version 2.0, as another choice":          "",
		"All rights reserved.": "",
		"":                     "",
	} {
		got, err := classify(text)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%.40q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestUnreachable: without the database, a line says so, and nothing fails.
func TestUnreachable(t *testing.T) {
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	for _, db := range []string{"http://127.0.0.1:1", missing.URL} {
		t.Setenv("GOVULNDB", db)
		var b bytes.Buffer
		if err := vulnerabilities(&b); err != nil {
			t.Errorf("%s: %v", db, err)
		}
		if s := b.String(); !strings.HasPrefix(s, "vulnerabilities: not looked for") || strings.Count(s, "\n") != 1 {
			t.Errorf("%s: %q", db, s)
		}
	}
}
