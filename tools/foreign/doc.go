// Package foreign tests Rivulet on programs whose calls are linked by other
// bootstrap methods than javac's: Groovy, JRuby, Nashorn, Clojure, Kotlin, Scala,
// and a program of our own that relinks its call sites in every way that
// java.lang.invoke has.
//
// The programs count their own calls, and the tests compare each count in
// Rivulet's reports with the program's. Those of other languages are built with the
// tag "foreign", since they take long and are fetched by Maven: go tool task
// test:foreign. testdata/README tells how to run a program by hand.
package foreign
