package app;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * A producer and a consumer of one topic. Arguments: the broker's address, its JMX port. Each record is a produce request of
 * its own, acknowledged before the next is sent; it has the time when it was due, from which on the consumer measures.
 * Commands, a line each: "load RATE" sends so many a second until the next command; "quiet" ends that; "send N" sends N more at
 * once; "count" asks the broker; "wait" says, and forgets, how long the consumer waited.
 */
public class Client {
    static final String TOPIC = "orders";
    static final AtomicLong longest = new AtomicLong(), received = new AtomicLong();
    static final AtomicLong lost = new AtomicLong();
    static long sent;
    static KafkaProducer<String, Long> producer;

    public static void main(String[] args) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 4, (short) 1))).all().get();
        }
        Thread consumer = new Thread(() -> consume(args[0]), "consumer");
        consumer.setDaemon(true);
        consumer.start();
        Properties p = new Properties();
        p.put("bootstrap.servers", args[0]);
        p.put("acks", "all");
        p.put("linger.ms", "0");
        p.put("retries", "0");
        p.put("enable.idempotence", "false");
        p.put("delivery.timeout.ms", "120000");
        p.put("request.timeout.ms", "110000");
        p.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        p.put("value.serializer", "org.apache.kafka.common.serialization.LongSerializer");
        producer = new KafkaProducer<>(p);
        send(System.nanoTime());
        while (received.get() == 0) Thread.sleep(10);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line = in.readLine();
        while (line != null && !line.equals("end")) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "load":
                    long period = 1_000_000_000L / Long.parseLong(words[1]), due = System.nanoTime();
                    while (!in.ready()) {
                        due += period;
                        long ahead = due - System.nanoTime();
                        if (ahead > 0) Thread.sleep(ahead / 1_000_000, (int) (ahead % 1_000_000));
                        send(due);
                    }
                    break;
                case "send":
                    for (long n = Long.parseLong(words[1]); n > 0; n--) send(System.nanoTime());
                    System.out.println("SENT " + sent);
                    break;
                case "quiet":
                    while (received.get() < sent) Thread.sleep(5);
                    System.out.println("QUIET " + sent);
                    break;
                case "count":
                    System.out.println("COUNT " + count(args[1]));
                    break;
                case "wait":
                    System.out.println("WAITED " + longest.getAndSet(0) / 1_000_000 + " " + lost.get());
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            line = in.readLine();
        }
        System.exit(0);
    }

    static void send(long due) throws Exception {
        producer.send(new ProducerRecord<>(TOPIC, Long.toString(sent), due)).get();
        sent++;
    }

    /** Produce requests, as the broker counts them. */
    static long count(String port) throws Exception {
        try (var c = JMXConnectorFactory.connect(new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi"))) {
            MBeanServerConnection m = c.getMBeanServerConnection();
            long n = 0;
            for (ObjectName name : m.queryNames(new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,*"), null))
                n += (Long) m.getAttribute(name, "Count");
            return n;
        }
    }

    static void consume(String broker) {
        Properties p = new Properties();
        p.put("bootstrap.servers", broker);
        p.put("group.id", "group");
        p.put("auto.offset.reset", "earliest");
        p.put("session.timeout.ms", "6000"); // the least that a broker allows by default
        p.put("heartbeat.interval.ms", "1000");
        p.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        p.put("value.deserializer", "org.apache.kafka.common.serialization.LongDeserializer");
        try (KafkaConsumer<String, Long> c = new KafkaConsumer<>(p)) {
            c.subscribe(List.of(TOPIC), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> parts) {}

                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> parts) {
                    lost.addAndGet(parts.size());
                }
            });
            for (;;) {
                for (ConsumerRecord<String, Long> r : c.poll(Duration.ofMillis(500))) {
                    long ns = System.nanoTime() - r.value();
                    if (received.incrementAndGet() > 1) longest.accumulateAndGet(ns, Math::max);
                }
            }
        }
    }
}
