package web

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// TestContrast wants WCAG 2.1 AA, 4.5 to 1 for text of normal size
// (success criterion 1.4.3), of every colour of text on every ground that it
// is written on, light and dark.
func TestContrast(t *testing.T) {
	css, err := dist.ReadFile("dist/index.css")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{
		"text": {"bg", "panel", "hover", "select", "warn-bg", "bad-bg"}, "muted": {"bg", "panel", "hover", "select"},
		"warn": {"bg", "panel", "warn-bg", "select"}, "bad": {"bg", "bad-bg"}, "good": {"bg"}, "accent": {"bg", "panel", "hover", "select"}, "accent-ink": {"accent"}, "bg": {"bad"},
		"box-ink": {"box0", "box1", "box2", "box3", "box4", "box5", "box-muted"}, "match-ink": {"match"},
	}
	themes := regexp.MustCompile(`color-scheme: ?(light|dark);([^}]*)}`).FindAllStringSubmatch(string(css), -1)
	if len(themes) != 3 { // light, dark by the system's choice, dark by the person's
		t.Fatalf("%d themes", len(themes))
	}
	for _, theme := range themes {
		colors := map[string]string{}
		for _, c := range regexp.MustCompile(`--([\w-]+): ?(#[0-9a-f]{3,6})`).FindAllStringSubmatch(theme[2], -1) {
			colors[c[1]] = c[2]
		}
		for text, grounds := range texts {
			for _, ground := range grounds {
				if r := contrast(t, colors[text], colors[ground]); r < 4.5 {
					t.Errorf("%s: %s on %s: %.2f to 1", theme[1], text, ground, r)
				}
			}
		}
	}
}

// contrast is WCAG 2.1's contrast ratio of two colours.
func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, color string) float64 {
	if len(color) == 4 { // #abc
		color = fmt.Sprintf("#%c%c%c%c%c%c", color[1], color[1], color[2], color[2], color[3], color[3])
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		if len(color) != 7 {
			t.Fatalf("colour %q", color)
		}
		v, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
