// A shop in Kotlin, root work.WorkKt.order: lambdas are linked by LambdaMetafactory, string
// templates by StringConcatFactory. Each counted method counts itself.
// Argument: the number of roots (0: until a line comes).
package work

import java.util.TreeMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.properties.Delegates

val calls = TreeMap<String, Long>()

fun hit(method: String) {
    calls[method] = (calls[method] ?: 0) + 1
}

data class Item(val name: String, val cents: Int)

class Cart {
    val items = ArrayList<Item>()

    init { hit("work.Cart.<init>") }

    fun add(item: Item, times: Int = 1): Cart {
        hit("work.Cart.add")
        for (i in 0 until times) items.add(item)
        return this
    }

    val total: Int
        get() { hit("work.Cart.getTotal"); return items.sumOf { it.cents } }

    operator fun plus(other: Cart): Int { hit("work.Cart.plus"); return total + other.total }

    override fun toString(): String { hit("work.Cart.toString"); return "cart" }

    companion object {
        fun of(vararg names: String): Cart {
            hit("work.Cart\$Companion.of")
            val cart = Cart()
            names.forEach { cart.add(Item(it, it.length)) } // inlined
            return cart
        }

        @JvmStatic fun tax(x: Int): Int { hit("work.Cart\$Companion.tax"); return x / 5 }
    }
}

object Single { fun one(): Int { hit("work.Single.one"); return 1 } }

fun interface Rule { fun apply(x: Int): Int }

interface Shape {
    fun area(): Int
    fun twice(): Int { hit("work.Shape\$DefaultImpls.twice|work.Shape.twice"); return 2 * area() }
}

class Square : Shape { override fun area(): Int { hit("work.Square.area"); return 4 } }

class Circle(val by: Shape) : Shape by by

class Watched {
    val lazily: Int by lazy { hit("work.Watched.lazily_delegate*lambda*"); 3 }
    var observed: Int by Delegates.observable(0) { _, _, new -> hit("work.Watched\$special\$\$inlined\$observable\$#.afterChange"); sum += new }
    var sum = 0
}

fun Int.extended(): Int { hit("work.WorkKt.extended"); return this + 1 }
fun higher(x: Int, f: (Int) -> Int): Int { hit("work.WorkKt.higher"); return f(x) }
inline fun inlined(x: Int, f: (Int) -> Int): Int = f(x)
inline fun <reified T> typed(x: Any): Int = if (x is T) 1 else 0
fun referenced(x: Int): Int { hit("work.WorkKt.referenced"); return x }
tailrec fun tail(n: Int): Int = if (n == 0) 0 else tail(n - 1)
fun generated(n: Int) = sequence { for (i in 0 until n) { yield(elementOf(i)) } }
fun elementOf(i: Int): Int { hit("work.WorkKt.elementOf"); return i }

const val LAMBDAS = "work.WorkKt.order\$lambda\$#"

fun order(): Int {
    hit("work.WorkKt.order")
    val cart = Cart.of("a", "bb", "ccc")
    for (i in 0 until 20) cart.add(Item("x$i", i))
    cart.add(Item("y", 2), 2)
    var sum = cart.total + cart.items.map { Cart.tax(it.cents) }.sum()
    sum += "$cart ${cart.items.size}".length + (cart + Cart.of())
    val captured = { x: Int -> hit(LAMBDAS); sum += x; x }
    sum += higher(1, captured) + higher(2) { hit(LAMBDAS); it * 2 } + higher(3, ::referenced)
    sum += inlined(4) { hit("inlined"); it } + typed<Cart>(cart) + 5.extended() + Single.one() + tail(3)
    val rule = Rule { hit(LAMBDAS); it + 1 }
    sum += rule.apply(1) + cart.let(Cart::total)
    val shapes = listOf(Square(), Circle(Square()))
    sum += shapes.sumOf { it.area() } + shapes.sumOf { it.twice() }
    val watched = Watched()
    watched.observed = 3
    sum += watched.lazily + watched.lazily + watched.sum
    sum += generated(4).sum() + generateSequence(1) { hit(LAMBDAS); if (it < 5) it + 1 else null }.sum()
    // The Comparator that is made of this lambda is a lambda of its own.
    sum += cart.items.sortedWith { a, b -> hit(LAMBDAS); hit(LAMBDAS); a.cents - b.cents }.size
    val (name, cents) = cart.items.first().copy(cents = 9)
    return sum + name.length + cents + cart.items.toSet().size
}

fun main(args: Array<String>) {
    val most = args.firstOrNull()?.toLong() ?: 0
    val done = CountDownLatch(1)
    println("PID ${ProcessHandle.current().pid()}")
    var roots = 0L
    if (most == 0L) {
        thread(isDaemon = true) { System.`in`.read(); done.countDown() }
        while (roots < 300) { order(); roots++ }
    }
    println("READY")
    while (if (most == 0L) !done.await(4, TimeUnit.MILLISECONDS) else roots < most) { order(); roots++ }
    calls["work.WorkKt.hit"] = calls.values.sum()
    calls.remove("inlined")
    calls.forEach { (method, n) -> println("COUNT $method $n") }
    println("ROOTS $roots")
}
