package main

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// What the paper measured, on four UltraSPARC II at 450 MHz: benchmark, scheme,
// calls, bare ms (Table 2: root ms), charged ms, total ms, overhead %, share of
// instrumentation, hotswapping, tool 1 and tool 2 in %, methods instrumented and
// called. "-" is not given there.
const paperWhole = `
compress A 225.93M 23241 73038 1199465 5061 75 <0.1 <0.1 18 55 53
compress B 225.93M 23241 73079 1199498 5061 75 <0.1 <0.1 18 55 53
db A 70320 24714 25174 25838 4.5 1.1 <0.1 <0.1 <0.1 52 46
db B 70320 24714 25219 25912 4.8 1.1 <0.1 <0.1 <0.1 52 46
jack A 1.86M 7756 10128 20630 165 36 3.3 4.2 9.2 274 264
jack B 1.86M 7756 10211 20718 166 36 3.8 4.2 9.2 274 264
javac A 46.7M 19575 33956 275625 1308 67 1 0.9 19 992 730
javac B 46.7M 19575 34270 277399 1317 67 1.8 0.8 19 936 730
jess A 77.62M 8965 27553 416021 4640 72 <0.1 0.2 19 478 327
jess B 77.62M 8965 27417 415044 4530 72 <0.1 0.4 19 442 327
mpegaudio A 91.7M 18204 41083 504528 2672 73 <0.1 0.2 19 241 213
mpegaudio B 91.7M 18204 40372 503576 2666 73 <0.1 0.2 19 230 213
Notepad A 144256 1373 3134 18589 1254 3.1 58 44 2.4 7486 2874
Notepad B 126067 1373 2348 24775 1704 2.0 55 36 1.8 3853 2706
PetStore_1 A 6.01M 3921025 - 4395469 12.1 1.2 - - 1.5 5345 287
PetStore_1 B 6.01M 3921025 - 4364105 11.3 1.0 - - 1.5 979 213
PetStore_2 A 178M 9630732 - 12635520 31.2 8.7 - - 5.3 8734 1124
PetStore_2 B 178M 9630732 - 12568103 30.5 8.5 - - 5.2 2691 1073`

const paperPartial = `
compress A 104.3M 6579 20290 574411 2285 73 <0.1 0.1 18 7 7
compress B 104.3M 6579 20861 573393 2281 73 <0.1 <0.1 18 7 7
db A 569 2612 2620 25328 1.2 <0.1 <0.1 0.3 <0.1 2 2
db B 569 2612 2658 25411 1.5 <0.1 <0.1 0.3 <0.1 2 2
jack A 242267 273 443 29140 271 3.3 0.1 2.6 1.8 66 55
jack B 242267 273 458 28785 267 3.4 0.3 1.2 2.0 65 55
javac A 2.70M 850 1575 44893 118 24 0.9 1.3 6.8 587 209
javac B 2.70M 850 1756 38901 91 28 1.3 1.9 7.8 289 209
jess A 5.67M 357 1213 47471 403 48 0.2 0.5 12 33 4
jess B 5.67M 357 1179 46056 388 49 <0.1 0.5 12 8 4
mpegaudio A 8.96M 612 1844 80667 343 44 0.1 0.2 11 191 11
mpegaudio B 8.96M 612 1762 70901 289 50 <0.1 0.2 12 21 11
Notepad A 660 49.7 59.4 62.1 25 4.2 - - <0.1 7882 31
Notepad B 380 49.7 54.5 56.0 12 2.7 - - <0.1 76 27
PetStore_1 A 3.93M 12979 17071 4012785 2.1 <0.1 - - 0.2 1231 128
PetStore_1 B 3.93M 12979 16858 4010253 2.0 <0.1 - - 0.2 439 125
PetStore_2 A 170.4M 1313700 1672218 10799213 11.9 4.5 - - 4.2 8606 976
PetStore_2 B 170.4M 1313700 1613429 10771041 11.8 4.4 - - 4.2 2546 891`

// What VisualVM's engine does on the micro programs (bench/README.md), JDK 17
// where nothing else is said: program, mode, bare ms, profiled ms, methods
// instrumented and called.
const visualVM = `
fib_32 lazy,_one_clock 7.3 925 4 2
fib_32 lazy,_two_clocks 7.5 4413 4 2
fib_32 lazy,_sampled 7.7 650 4 2
medium_256 lazy,_one_clock 16.8 735 28 26
medium_256 lazy,_two_clocks 15.5 3039 28 26
medium_256 lazy,_sampled 15.4 501 28 26
medium_256 total 14.6 693 17393 21
medium_256 eager_(noisy_run) 17.9 1124 7881 21
mt,_two_threads lazy,_6-14_%_of_the_calls_lost 8.3 1661 5 3
fib_32_(JDK_25) lazy 8.8 968 4 2
javac lazy,_1203_redefinitions_in_13.2_s,_first_run_22.2_s 170-340 3550 3859 2732
javac eager,_first_run_10.6_s - - 4905 2847`

// quote puts the others' figures beside.
func quote(page *bench.Page) {
	columns := headings[:13]
	page.Quote("The paper, Table 1 (quoted)", "*Design of JFluid*, four UltraSPARC II at 450 MHz. A dash is not given there.", columns...)
	lines(page, paperWhole)
	page.Quote("The paper, Table 2 (quoted)", "*Bare* is the root's own time there, by its light timing; *overhead* is of the whole program.", columns...)
	lines(page, paperPartial)
	page.Quote("VisualVM's engine (quoted)", "Measured on another day on such a machine; a snapshot of 2026-06, driven headless. Best repetitions. Attaching took 0.7 s.",
		"program|", "mode|", "bare ms", "profiled ms", "instrumented", "called")
	lines(page, visualVM)
}

// lines writes a row for each line, with a cell for each word.
func lines(page *bench.Page, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var cells []any
		for _, word := range strings.Fields(line) {
			cells = append(cells, strings.ReplaceAll(word, "_", " "))
		}
		page.Row(cells...)
	}
}
