package main

import (
	"errors"
	"strings"
)

// allowed are the licences that may be passed on with Rivulet: all permissive, or, as MPL's, bound
// to their own files.
var allowed = []string{"MIT", "BSD-3-Clause", "BSD-2-Clause", "Apache-2.0", "ISC", "MPL-2.0"}

// errLicence is what a text is that is none of [allowed].
var errLicence = errors.New("its licence is not one of " + strings.Join(allowed, ", "))

// classify names the licence that a text is, by sentences that each of them must have.
func classify(text string) (string, error) {
	t := strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(t, p) {
				return false
			}
		}
		return true
	}
	switch {
	case has("mozilla public license", "version 2.0"): // it names GNU's as secondary licences
		return "MPL-2.0", nil
	case has("gnu affero general public license"), has("gnu general public license"), has("gnu lesser general public license"):
		return "", errLicence
	case has("apache license", "version 2.0"):
		return "Apache-2.0", nil
	case has("permission is hereby granted, free of charge, to any person obtaining a copy", "the above copyright notice and this permission notice shall be included"):
		return "MIT", nil
	case has("permission to use, copy, modify, and", "with or without fee is hereby granted, provided that the above copyright notice"):
		return "ISC", nil
	case has("redistribution and use in source and binary forms", "endorse or promote"):
		return "BSD-3-Clause", nil
	case has("redistribution and use in source and binary forms", "redistributions in binary form must reproduce"):
		return "BSD-2-Clause", nil
	}
	return "", errLicence
}
