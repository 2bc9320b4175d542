// A shop in JavaScript. Each counted function counts itself, by the name
// that Nashorn's method has: that of the functions around it is before its own.
var calls = {};

function hit(name) {
    calls[name] = (calls[name] || 0) + 1;
}

function Cart() {
    hit('Cart');
    this.items = [];
}

Cart.prototype.add = function add(x) {
    hit('add');
    this.items.push(x);
    return this;
};

Cart.prototype.total = function total() {
    hit('total');
    var sum = 0;
    for (var i = 0; i < this.items.length; i++) sum += this.items[i];
    return sum;
};

Object.defineProperty(Cart.prototype, 'size', {
    get: function size() {
        hit('size');
        return this.items.length;
    }
});

function Square() {
    hit('Square');
}
Square.prototype.area = function areaOfSquare() {
    hit('areaOfSquare');
    return 4;
};

function Circle() {
    hit('Circle');
}
Circle.prototype.area = function areaOfCircle() {
    hit('areaOfCircle');
    return 3;
};

function price(x) {
    hit('price');
    return x * 2;
}

function tax(x) {
    hit('tax');
    return x / 5;
}

function textPrice(x) {
    hit('textPrice');
    return x.length;
}

function makeCounter(step) {
    hit('makeCounter');
    var n = 0;
    return function counter() {
        hit('makeCounter*counter');
        n += step;
        return n;
    };
}

function order() {
    hit('order');
    var cart = new Cart();
    var sum = 0;
    for (var i = 0; i < 20; i++) {
        cart.add(i);
        sum += price(i);
        sum += tax(i);
    }
    sum += cart.total() + cart.size;
    var shapes = [new Square(), new Circle(), new Square()];
    for (var j = 0; j < shapes.length; j++) sum += shapes[j].area(); // one site, two classes
    [3, 1, 2].forEach(function each(x) {
        hit('order*each');
        sum += x;
    });
    var counter = makeCounter(2);
    sum += counter() + counter();
    sum += cart.total.call(cart) + cart.total.apply(cart, []);
    var f = price; // a site whose callee changes at each root
    for (var k = 0; k < 4; k++) {
        sum += f(k % 2 ? 'ab' : k);
        f = k % 2 ? price : textPrice;
    }
    return sum;
}

// Nashorn compiles a function anew for other types, each time into a class of its own.
function report() {
    calls.hit = Object.keys(calls).reduce(function (sum, name) { return sum + calls[name]; }, 0);
    Object.keys(calls).sort().forEach(function (name) {
        print('COUNT jdk.nashorn.internal.scripts.Script$*work.' + name + ' ' + calls[name]);
    });
}
