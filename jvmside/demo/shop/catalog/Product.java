package shop.catalog;

/** Something to sell. */
public final class Product {
    private final int number;
    private final String name;
    private final Category category;
    private final Part body;
    private final long cents;

    Product(int number, String name, Category category, Part body, long cents) {
        this.number = number;
        this.name = name;
        this.category = category;
        this.body = body;
        this.cents = cents;
    }

    public int number() {
        return number;
    }

    public String name() {
        return name;
    }

    public Category category() {
        return category;
    }

    public long cents() {
        return cents;
    }

    public int grams() {
        return body.grams();
    }

    public int steps() {
        return body.steps();
    }
}
