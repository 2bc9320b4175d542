package shop.catalog;

import java.util.ArrayList;
import java.util.List;

/** All products: made up, and the same in every run. */
public final class Catalog {
    public static final Catalog INSTANCE = new Catalog();

    private static final int SIZE = 200;

    private final List<Product> products = new ArrayList<>(SIZE);

    private Catalog() {
        Category all = new Category("all", null);
        Category home = new Category("home", all);
        Category garden = new Category("garden", all);
        Category[] categories = {
            new Category("kitchen", home),
            new Category("lamps", new Category("living room", home)),
            new Category("books", new Category("shelves", new Category("study", home))),
            new Category("tools", garden),
            new Category("seeds", garden),
        };
        for (int i = 0; i < SIZE; i++) {
            Category category = categories[i % categories.length];
            products.add(new Product(i, "product-" + i, category, part(i, i % 5), 199 + (i * 7919L) % 20_000));
        }
    }

    public Product product(int number) {
        return products.get(number);
    }

    public int size() {
        return SIZE;
    }

    /** A bill of materials of that depth. */
    private static Part part(int seed, int depth) {
        if (depth == 0) {
            return new Piece(20 + seed % 50 * 10);
        }
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i <= seed % 3; i++) {
            parts.add(part(seed + i, depth - 1));
        }
        return new Assembly(parts, 1 + seed % 4);
    }
}
