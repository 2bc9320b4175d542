package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// TestNotices: each part has its name and all its texts, in the order of names; a module without a licence is an error.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"LICENSE.md": "may be passed on\n", "NOTICE": "made by A", "main.go": "package main"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := textsOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := string(written([]part{{"b v1", texts}, {"a v2", [][]byte{[]byte("text of a")}}}))
	line := strings.Repeat("=", 80)
	if want := "\n" + line + "\na v2\n\ntext of a\n\n" + line + "\nb v1\n\nmay be passed on\n\nmade by A\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at the end", got, want)
	}
	if _, err := textsOf(t.TempDir()); err == nil {
		t.Error("no licence is no error")
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
