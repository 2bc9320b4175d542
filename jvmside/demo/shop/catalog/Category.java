package shop.catalog;

/** A node of the category tree. */
public final class Category {
    private final String name;
    private final Category parent;

    Category(String name, Category parent) {
        this.name = name;
        this.parent = parent;
    }

    /** Whether it is that category or one below it. */
    public boolean isIn(String other) {
        return name.equals(other) || parent != null && parent.isIn(other);
    }
}
