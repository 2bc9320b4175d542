// A shop in dynamic Groovy, root work.order: nearly every call is linked by
// Groovy's own bootstrap method, IndyInterface. Each counted method counts itself.
// What is counted is named as in Rivulet's reports, * stands for anything.
// Arguments: the number of roots (0: until a line comes), and "churn", with which
// each root changes a metaclass, so that all call sites are linked anew.
import groovy.transform.CompileStatic

@CompileStatic
class Calls {
    static final Map<String, long[]> OF = new TreeMap<String, long[]>()

    static void hit(String method) {
        long[] n = OF.get(method)
        if (n == null) OF.put(method, n = new long[1])
        n[0]++
    }

    static void print(long roots) {
        long hits = 0
        for (long[] n : OF.values()) hits += n[0]
        OF.put('Calls.hit', [hits] as long[])
        OF.put('Pricing.tax', [Pricing.taxes] as long[])
        OF.put('Pricing.fast', [Pricing.fasts] as long[])
        OF.each { String name, long[] n -> println "COUNT $name ${n[0]}" }
        println "ROOTS $roots"
    }
}

class Cart {
    List items = []
    String label = 'cart'

    Cart() { Calls.hit('Cart.<init>') }

    def add(x) {
        Calls.hit('Cart.add')
        items << x
        this
    }

    def total() {
        Calls.hit('Cart.total')
        items.sum()
    }

    // A property's getter: the program writes cart.size.
    def getSize() {
        Calls.hit('Cart.getSize')
        items.size()
    }

    // Called by a GString.
    String toString() {
        Calls.hit('Cart.toString')
        'cart of ' + items.size()
    }
}

class Pricing {
    static long taxes // a leaf counts in a field: a call would make it none
    static long fasts

    static tax(x) {
        taxes++
        x.intdiv(5)
    }

    @CompileStatic
    static long fast(long x) {
        fasts++
        return x * 3
    }
}

interface Shape { def area() }

class Square implements Shape {
    def area() { Calls.hit('Square.area'); 4 }
}

class Circle implements Shape {
    def area() { Calls.hit('Circle.area'); 3 }
}

class Tile { // no Shape: Groovy finds area by its name
    def area() { Calls.hit('Tile.area'); 1 }
}

class Loner {
    def methodMissing(String name, args) { Calls.hit('Loner.methodMissing'); name.size() }
    def call(x) { Calls.hit('Loner.call'); x }
    def plus(Loner other) { Calls.hit('Loner.plus'); this }
}

// One call site, three classes of receivers in turn.
def areas(shapes) {
    Calls.hit('work.areas')
    def sum = 0
    for (s in shapes) sum += s.area()
    sum
}

def twice(x) { Calls.hit('work.twice(Ljava/lang/Object;)*'); 2 * x }

def twice(String x) { Calls.hit('work.twice(Ljava/lang/String;)*'); x + x }

def withDefault(a, b = 2) { Calls.hit('work.withDefault(Ljava/lang/Object;Ljava/lang/Object;)*'); a + b }

def order() {
    if (churn) Cart.metaClass.discount = discount
    def cart = new Cart()
    20.times { Calls.hit('work$_order_closure*.doCall'); cart.add(it) }
    def sum = cart.total()
    for (i in 0..<20) sum += Pricing.tax(i)
    sum += Pricing.fast(sum as long)
    sum += cart.size // Cart.getSize
    Calls.hit('Cart.getLabel') // made by the compiler, so it is counted where it is called
    sum += cart.label.length()
    sum += "$cart".length()
    cart.items.each { Calls.hit('work$_order_closure*.doCall'); sum += it }
    def shapes = [new Square(), new Circle(), new Tile(), new Square()]
    sum += shapes*.area().sum()
    for (i in 0..<3) sum += areas(shapes)
    Cart none = null
    sum += none?.total() ?: 0
    sum += cart?.total()
    sum += cart.discount(3)
    def loner = new Loner()
    sum += loner.unknown()
    sum += loner(7)
    sum += (loner + loner).call(1)
    sum += twice(2) + twice('ab').length() + withDefault(1) + withDefault(1, 5)
    sum += [3, 1, 2].sort { a, b -> Calls.hit('work$_order_closure*.doCall'); 0 }.size()
    def method = cart.&total
    sum += method()
    sum += cart.'total'()
    sum += cart.invokeMethod('total', null)
    sum
}

@groovy.transform.Field boolean churn
@groovy.transform.Field def discount = { x -> Calls.hit('work$_closure*.doCall'); x }

long most = args.length > 0 ? args[0] as long : 0
churn = 'churn' in args
Cart.metaClass.discount = discount
def done = new java.util.concurrent.CountDownLatch(1)
if (most == 0) {
    Thread.startDaemon { System.in.read(); done.countDown() }
}
println "PID ${ProcessHandle.current().pid()}"
long roots = 0
def go = {
    order()
    if (++roots % 7 == 0) Cart.metaClass.discount = discount // all sites are linked anew
}
if (most == 0) 300.times { go() }
println 'READY'
while (most == 0 ? !done.await(4, java.util.concurrent.TimeUnit.MILLISECONDS) : roots < most) go()
Calls.print(roots)
