package app;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.PostLoad;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.jpa.repository.support.JpaEntityInformation;
import org.springframework.data.jpa.repository.support.SimpleJpaRepository;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A shop whose requests all make the same calls, which it counts. The root is Orders.order. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableJpaRepositories(repositoryBaseClass = Repository.class)
public class Main implements CommandLineRunner {
    static final int OWNERS = 40, ITEMS = 5;
    static final Map<String, LongAdder> COUNTS = new ConcurrentSkipListMap<>();
    private final JdbcTemplate jdbc;
    private final ServletWebServerApplicationContext server;

    Main(JdbcTemplate jdbc, ServletWebServerApplicationContext server) {
        this.jdbc = jdbc;
        this.server = server;
    }

    static void count(String method) {
        COUNTS.computeIfAbsent(method, m -> new LongAdder()).increment();
    }

    /** SQL calls it back. */
    public static long tax(long price) {
        count("app.Main.tax");
        return price / 5;
    }

    public static void main(String[] args) throws Exception {
        SpringApplication.run(Main.class, args);
        System.in.read();
        System.exit(0);
    }

    @Override
    public void run(String... args) {
        COUNTS.clear(); // of what Hibernate has tried out
        jdbc.execute("create alias tax for 'app.Main.tax'");
        for (int o = 0; o < OWNERS; o++)
            for (int i = 0; i < ITEMS; i++) jdbc.update("insert into item values(?, ?, ?)", ITEMS * o + i, o, 100 * o + 10 * i);
        System.out.println("PID " + ProcessHandle.current().pid());
        System.out.println("PORT " + server.getWebServer().getPort());
    }
}

@Entity
class Item {
    @Id long id;
    long owner, price;

    Item() {
        Main.count("app.Item.<init>");
    }

    @PostLoad
    void loaded() { // by reflection
        Main.count("app.Item.loaded");
    }

    long price() {
        Main.count("app.Item.price");
        return price;
    }
}

@Entity
class Note {
    @Id @GeneratedValue long id;
    @ManyToOne Item item;
    String text;

    Note() {
        Main.count("app.Note.<init>");
    }
}

interface Items extends JpaRepository<Item, Long> {
    List<Item> findByOwnerOrderById(long owner);

    @Query(value = "select tax(?1)", nativeQuery = true)
    long tax(long price);
}

interface Notes extends JpaRepository<Note, Long> {}

/** What the proxies of both repositories lead to. */
class Repository<T, I> extends SimpleJpaRepository<T, I> {
    Repository(JpaEntityInformation<T, ?> info, EntityManager entities) {
        super(info, entities);
    }

    @Override
    public <S extends T> S saveAndFlush(S entity) {
        Main.count("app.Repository.saveAndFlush");
        return super.saveAndFlush(entity);
    }

    @Override
    public void delete(T entity) {
        Main.count("app.Repository.delete");
        super.delete(entity);
    }
}

@Service
class Till {
    private final Items items;
    private final Notes notes;

    Till(Items items, Notes notes) {
        this.items = items;
        this.notes = notes;
    }

    @Transactional
    public String sell(long owner) {
        Main.count("app.Till.sell");
        List<Item> all = items.findByOwnerOrderById(owner);
        long sum = 0;
        for (Item i : all) sum += i.price();
        Note n = new Note();
        n.item = all.get((int) (owner % all.size()));
        n.text = n.item.price() + "/" + items.tax(sum);
        notes.saveAndFlush(n);
        long there = all.stream().filter(i -> sold(i)).count();
        notes.delete(n);
        return sum + " " + n.text + " " + there;
    }

    private boolean sold(Item i) {
        Main.count("app.Till.sold");
        return i.price() >= 0;
    }

    @Transactional(readOnly = true)
    public void refuse(long owner) {
        Main.count("app.Till.refuse");
        throw new IllegalArgumentException("no " + owner);
    }
}

@Aspect
@Component
class Watch {
    @Around("within(app.Till)")
    public Object around(ProceedingJoinPoint call) throws Throwable {
        Main.count("app.Watch.around");
        return call.proceed();
    }
}

@RestController
class Orders {
    private final Till till;

    Orders(Till till) {
        this.till = till;
    }

    @GetMapping("/order")
    public String order(@RequestParam("owner") long owner) {
        Main.count("app.Orders.order");
        String sold = till.sell(owner);
        try {
            till.refuse(owner);
        } catch (IllegalArgumentException e) {
            return sold + " " + e.getMessage();
        }
        return "not refused";
    }

    @GetMapping("/counts")
    public String counts() {
        StringBuilder b = new StringBuilder();
        Main.COUNTS.forEach((m, n) -> b.append(m).append(' ').append(n).append('\n'));
        return b.toString();
    }
}
