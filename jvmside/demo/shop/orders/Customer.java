package shop.orders;

/** Who orders. */
public final class Customer {
    private final String name;
    private final String country;
    private final int years;

    Customer(String name, String country, int years) {
        this.name = name;
        this.country = country;
        this.years = years;
    }

    public String name() {
        return name;
    }

    public String country() {
        return country;
    }

    /** For how long they have been a customer. */
    public int years() {
        return years;
    }
}
