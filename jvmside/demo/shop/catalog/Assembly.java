package shop.catalog;

import java.util.List;

/** A part made of parts: the bill of materials is a tree, walked by recursion. */
final class Assembly implements Part {
    private final List<Part> parts;
    private final int screws;

    Assembly(List<Part> parts, int screws) {
        this.parts = parts;
        this.screws = screws;
    }

    @Override
    public int grams() {
        int sum = screws * 3;
        for (Part part : parts) {
            sum += part.grams();
        }
        return sum;
    }

    @Override
    public int steps() {
        int sum = Part.super.steps() + screws;
        for (Part part : parts) {
            sum += part.steps();
        }
        return sum;
    }
}
