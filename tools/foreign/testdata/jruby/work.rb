# A shop in Ruby. With -Djruby.compile.mode=FORCE each method becomes a static method
# of a class named after this file, such as RUBY$method$order$0, which the profiler can name;
# with -Djruby.compile.invokedynamic=true calls are linked by JRuby's bootstrap methods.
# With "churn" as second argument each seventh root is followed by changes of classes.
# Each counted method counts itself; what ends in __VARARGS__ only passes on. Argument: the number of roots (0: until a line comes).

CALLS = Hash.new(0)

class Cart
  attr_reader :items

  def initialize
    CALLS['initialize'] += 1
    @items = []
  end

  def insert(x)
    CALLS['insert'] += 1
    @items << x
    self
  end

  def sum
    CALLS['sum'] += 1
    total = 0
    @items.each { |x| CALLS['{}sum'] += 1; total += x }
    total
  end

  def ==(other)
    CALLS['=='] += 1
    sum == other.sum
  end

  def to_s
    CALLS['to_s'] += 1
    "cart of #{@items.size}"
  end

  def method_missing(name, *args)
    CALLS['method_missing'] += 1
    name.to_s.size + args.size
  end

  def respond_to_missing?(*) = false
end

module Priced
  def price(x, rate: 2)
    CALLS['price'] += 1
    x * rate
  end
end

class Pricing
  include Priced

  def self.tax(x)
    CALLS['tax'] += 1
    x / 5
  end

  def price(x, rate: 3)
    CALLS['price'] += 1
    super
  end

  # Not counted: JRuby interprets it at first, whatever the mode.
  define_method(:defined) { |x| x }
end

class Square
  def area = (CALLS['area'] += 1; 4)
end

class Circle
  def area = (CALLS['area'] += 1; 3)
end

class Tile
  def area = (CALLS['area'] += 1; 1)
end

def areas(shapes)
  CALLS['areas'] += 1
  sum = 0
  i = 0
  while i < shapes.size # one call site, three classes of receivers
    sum += shapes[i].area
    i += 1
  end
  sum
end

def yields(n)
  CALLS['yields'] += 1
  i = 0
  while i < n
    yield i
    i += 1
  end
  n
end

def discount(x)
  CALLS['discount'] += 1
  x
end

def optional(a, b = 2, *rest)
  CALLS['optional'] += 1
  a + b + rest.size
end

def order
  cart = Cart.new
  20.times { |i| CALLS['{}order'] += 1; cart.insert(i) }
  sum = cart.sum
  i = 0
  while i < 20
    sum += Pricing.tax(i)
    i += 1
  end
  sum += Pricing.new.price(sum) + Pricing.new.defined(3)
  shapes = [Square.new, Circle.new, Tile.new, Square.new]
  sum += shapes.map(&:area).sum + areas(shapes)
  sum += cart.send(:sum) + cart.public_send('sum') + cart.method(:sum).call
  sum += 1 if cart == cart
  sum += "#{cart}".size + cart.unknown(1, 2)
  yields(3) { |x| CALLS['{}order'] += 1; sum += x }
  sum += discount(1) + optional(1) + optional(1, 3, 4)
  double = ->(x) { CALLS['{}order'] += 1; x * 2 }
  sum + double.call(4) + double.(5) + cart.items.size
end

# Defining a method makes all sites that call it link anew.
def redefine(round)
  Object.class_eval do
    alias_method :discount_was, :discount
    alias_method :discount, :discount_was
  end
  Square.define_method("extra#{round % 3}") { round }
end

most = (ARGV[0] || '0').to_i
churn = ARGV.include?('churn')
done = Queue.new
Thread.new { $stdin.gets; done << true } if most.zero?
puts "PID #{Process.pid}"
roots = 0
go = lambda do
  order
  roots += 1
  redefine(roots) if churn && roots % 7 == 0
end
300.times { go.call } if most.zero?
puts 'READY'
$stdout.flush
if most.zero?
  while done.empty?
    go.call
    sleep 0.004
  end
else
  go.call while roots < most
end
CALLS.sort.each do |name, n|
  kind, name = name.start_with?('{}') ? ['block', name[2..]] : ['method', name]
  puts "COUNT work.RUBY$#{kind}$#{name}$# #{n}"
end
puts "ROOTS #{roots}"
$stdout.flush
