package application

// An Entry is a row of the list of frameworks.
type Entry struct {
	Name     string
	Packages []string // beginnings of names of classes: a package and what is below it
	Except   []string // of these, what is not the framework's
	Itself   []string // where the main class begins so, the program is this framework, whose methods are the application's
}

// List has the frameworks whose levels are folded (docs/reference.md has the list). A row has
// what stands between a request and the application's code, and what the application
// calls to get to code of its own again.
var List = []Entry{
	{Name: "Spring", Packages: []string{"org.springframework", "org.aopalliance", "org.aspectj"}, Except: []string{"org.springframework.samples"}},
	{Name: "Jakarta EE", Packages: []string{
		"jakarta.annotation", "jakarta.ejb", "jakarta.el", "jakarta.enterprise", "jakarta.faces", "jakarta.interceptor", "jakarta.jms", "jakarta.mail", "jakarta.persistence",
		"jakarta.servlet", "jakarta.transaction", "jakarta.validation", "jakarta.websocket", "jakarta.ws", "jakarta.xml",
		"javax.ejb", "javax.el", "javax.enterprise", "javax.faces", "javax.interceptor", "javax.jms", "javax.persistence", "javax.servlet", "javax.validation", "javax.websocket", "javax.ws.rs",
	}},
	{Name: "Tomcat", Packages: []string{"org.apache.catalina", "org.apache.coyote", "org.apache.tomcat", "org.apache.jasper", "org.apache.naming", "org.apache.juli"}},
	{Name: "Jetty", Packages: []string{"org.eclipse.jetty"}},
	{Name: "Undertow, WildFly", Packages: []string{"io.undertow", "org.jboss", "org.wildfly", "org.xnio"}},
	{Name: "Netty, Reactor, RxJava", Packages: []string{"io.netty", "reactor", "io.reactivex", "org.reactivestreams"}},
	{Name: "Quarkus, Vert.x, Micronaut", Packages: []string{"io.quarkus", "io.vertx", "io.smallrye", "io.micronaut"}},
	{Name: "Jersey, RESTEasy, CXF", Packages: []string{"org.glassfish", "org.apache.cxf", "com.sun.jersey"}},
	{Name: "gRPC, Thrift", Packages: []string{"io.grpc", "org.apache.thrift"}},
	{Name: "Hibernate", Packages: []string{"org.hibernate"}},
	{Name: "EclipseLink, MyBatis, jOOQ", Packages: []string{"org.eclipse.persistence", "org.apache.ibatis", "org.mybatis", "org.jooq"}},
	{Name: "Kafka", Packages: []string{"org.apache.kafka"}, Itself: []string{"kafka", "org.apache.kafka"}},
	{Name: "ActiveMQ, RabbitMQ, Camel", Packages: []string{"org.apache.activemq", "com.rabbitmq", "org.apache.camel"}},
	{Name: "Akka, Pekko, Play", Packages: []string{"akka", "org.apache.pekko", "play.api", "play.core"}},
	{Name: "Connection pools", Packages: []string{"com.zaxxer.hikari", "org.apache.commons.dbcp", "org.apache.commons.dbcp2", "com.mchange.v2"}},
	{Name: "JDBC drivers", Packages: []string{"org.h2", "org.postgresql", "com.mysql", "org.mariadb", "oracle.jdbc", "com.microsoft.sqlserver", "org.hsqldb", "org.apache.derby"}, Itself: []string{"org.h2", "org.hsqldb", "org.apache.derby"}},
	{Name: "Guice, Dagger", Packages: []string{"com.google.inject", "dagger"}},
	{Name: "Struts, Wicket, Vaadin", Packages: []string{"org.apache.struts2", "com.opensymphony.xwork2", "org.apache.wicket", "com.vaadin"}},
	{Name: "Byte Buddy, cglib, Javassist", Packages: []string{"net.bytebuddy", "net.sf.cglib", "javassist"}},
	{Name: "JUnit, TestNG, Surefire", Packages: []string{"org.junit", "junit", "org.testng", "org.apache.maven.surefire", "org.mockito"}},
	{Name: "OpenTelemetry, Micrometer", Packages: []string{"io.opentelemetry", "io.micrometer"}},
	{Name: "Language runtimes", Packages: []string{
		"groovy.lang", "groovy.ui", "org.codehaus.groovy", "org.apache.groovy", "org.jruby", "clojure", "scala", "kotlin", "kotlinx.coroutines",
	}, Itself: []string{"scala.tools", "org.jetbrains.kotlin"}},
	{Name: "Reflection", Packages: []string{"java.lang.reflect", "java.lang.invoke", "jdk.internal.reflect", "sun.reflect", "jdk.proxy1", "jdk.proxy2", "jdk.proxy3", "com.sun.proxy"}},
}

// generated are parts of the names of classes that frameworks make of the application's:
// proxies, and what stands in for reflection.
var generated = []string{
	"$Proxy", "$$SpringCGLIB$$", "$$EnhancerBySpringCGLIB$$", "$$FastClassBySpringCGLIB$$", "$$EnhancerByCGLIB$$", "$HibernateProxy$", "$$_javassist", "_$$_jvst",
	"$ByteBuddy$", "$MockitoMock$", "GeneratedMethodAccessor", "GeneratedConstructorAccessor", "$$EnhancerByGuice$$", "_ClientProxy", "$Proxy$_$$_WeldClientProxy",
}

// jdk are the packages of the JDK, whose methods belong to whoever calls them.
var jdk = []string{"java", "javax", "jdk", "sun", "com.sun", "org.ietf.jgss", "org.jcp.xml", "org.w3c.dom", "org.xml.sax"}
