package shop.orders;

import shop.catalog.Product;

/** Some pieces of one product. */
public final class OrderLine {
    private final Product product;
    private final int pieces;

    OrderLine(Product product, int pieces) {
        this.product = product;
        this.pieces = pieces;
    }

    public Product product() {
        return product;
    }

    public int pieces() {
        return pieces;
    }

    public long cents() {
        return product.cents() * pieces;
    }
}
