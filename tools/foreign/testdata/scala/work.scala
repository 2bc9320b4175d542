// A shop in Scala 3, root work.Main$.order: lambdas are linked by LambdaMetafactory; calls of
// structural types are reflective. Each counted method counts itself.
// Argument: the number of roots (0: until a line comes).
package work

import java.util.TreeMap
import java.util.concurrent.{CountDownLatch, TimeUnit}
import reflect.Selectable.reflectiveSelectable
import scala.jdk.CollectionConverters.*

object Calls:
  val of = TreeMap[String, Long]()
  def hit(method: String): Unit = of.merge(method, 1L, (a, b) => a + b)

import Calls.hit

trait Shape:
  def area: Int
  def twice: Int = { hit("work.Shape.twice"); 2 * area }

trait Loud extends Shape:
  abstract override def area: Int = { hit("work.Loud.area"); super.area + 100 }

class Square extends Shape:
  def area: Int = { hit("work.Square.area"); 4 }

class LoudSquare extends Square with Loud

case class Item(name: String, cents: Int)

object Small:
  def unapply(item: Item): Option[Int] = { hit("work.Small$.unapply"); if item.cents < 10 then Some(item.cents) else None }

enum Kind(val weight: Int):
  case Book extends Kind(3)
  case Pen extends Kind(1)

class Cart:
  hit("work.Cart.<init>")
  private var items = List.empty[Item]
  lazy val lazily: Int = { hit("work.Cart.lazily$lzyINIT#|work.Cart.lazily$lzycompute"); 5 }
  def add(item: Item, times: Int = 1): Cart = { hit("work.Cart.add"); for _ <- 1 to times do items ::= item; this }
  def total: Int = { hit("work.Cart.total"); items.map(_.cents).sum }
  def all: List[Item] = items
  def close(): Int = { hit("work.Cart.close"); 7 }
  override def toString: String = { hit("work.Cart.toString"); "cart" }

given ordering: Ordering[Item] with
  def compare(a: Item, b: Item): Int = { hit("work.work$package$ordering$.compare(Lwork/Item;*"); 0 }

extension (x: Int) def extended: Int = { hit("work.work$package$.extended"); x + 1 }

object Main:
  type Closing = { def close(): Int }
  private val lambdas = "work.Main$.order$$anonfun$#|work.Main$.$anonfun$#"

  def byName(times: Int, x: => Int): Int = { hit("work.Main$.byName"); if times == 0 then 0 else x + byName(times - 1, x) }
  def higher(x: Int, f: Int => Int): Int = { hit("work.Main$.higher"); f(x) }
  def curried(a: Int)(b: Int): Int = { hit("work.Main$.curried"); a + b }
  def referenced(x: Int): Int = { hit("work.Main$.referenced"); x }
  def structural(x: Closing): Int = { hit("work.Main$.structural"); x.close() }
  def variadic(xs: Int*): Int = { hit("work.Main$.variadic"); xs.sum }
  inline def inlined(inline x: Int): Int = x + x

  def matched(x: Any): Int =
    hit("work.Main$.matched")
    x match
      case Small(cents) => cents
      case Item(name, cents) if cents > 10 => name.length
      case Kind.Book => 3
      case s: String => s.length
      case head :: _ => 1
      case _ => 0

  def order(): Int =
    hit("work.Main$.order")
    val cart = Cart()
    for i <- 0 until 20 do { hit(lambdas); cart.add(Item(s"x$i", i)) }
    cart.add(Item("y", 2), 2)
    var sum = cart.total + cart.lazily + cart.lazily + s"$cart ${cart.all.size}".length
    // A method passed as a function is called by a lambda, which the caller counts.
    sum += higher(1, x => { hit(lambdas); x + sum }) + higher(2, { hit(lambdas); referenced }) + List(1, 2).map(x => { hit(lambdas); curried(3)(x) }).sum
    sum += byName(3, { hit(lambdas); 2 }) + structural(cart) + variadic(1, 2, 3) + 4.extended + inlined(5)
    val shapes = List[Shape](Square(), LoudSquare(), new Shape { def area = { hit("work.Main$$anon$#.area"); 1 } })
    sum += shapes.map(s => { hit(lambdas); s.area }).sum + shapes.foldLeft(0)((n, s) => { hit(lambdas); n + s.twice })
    sum += List(Item("a", 1), Item("b", 20), Kind.Book, "str", List(1), 3L).map(x => { hit(lambdas); matched(x) }).sum
    sum += cart.all.sorted.size + LazyList.from(1).map { x => hit(lambdas); x * 2 }.take(3).sum
    val partial: PartialFunction[Int, Int] = { case x if { hit("work.Main$$anon$#.applyOrElse(I*"); x > 1 } => x }
    sum + List(0, 2, 3).collect(partial).sum

  def main(args: Array[String]): Unit =
    val most = args.headOption.map(_.toLong).getOrElse(0L)
    val done = CountDownLatch(1)
    println(s"PID ${ProcessHandle.current.pid}")
    var roots = 0L
    if most == 0 then
      val reader = Thread(() => { System.in.read(); done.countDown() })
      reader.setDaemon(true)
      reader.start()
      while roots < 300 do { order(); roots += 1 }
    println("READY")
    while if most == 0 then !done.await(4, TimeUnit.MILLISECONDS) else roots < most do { order(); roots += 1 }
    Calls.of.put("work.Calls$.hit", Calls.of.values.asScala.sum)
    for (method, n) <- Calls.of.asScala do println(s"COUNT $method $n")
    println(s"ROOTS $roots")
