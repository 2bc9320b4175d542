// Package servers measures what attaching costs a server made of frameworks, and
// tests whether the counts are right: Spring Boot with Spring Data JPA, AOP and H2, alone
// and with the agents of OpenTelemetry and JaCoCo; and a Kafka broker, whose own metric of
// produce requests is compared with what was recorded and with what its client sent.
//
// A load generator sends requests at a fixed rate, whatever the server does, and
// records when each was due and how long its answer took from then on. The server
// counts its own calls. The tests fail where an answer or a count is wrong; latencies
// are only printed. They have the build tag "servers", since they take long and Maven
// fetches the server: go tool task test:servers. testdata/README tells how to run it by hand.
package servers
