package shop.payment;

import shop.orders.Order;

/** A credit card, whose number must pass the Luhn test. */
public final class Card extends Payment {
    private final long number;

    public Card(long number) {
        this.number = number;
    }

    @Override
    void authorize(Order order, long cents) throws DeclinedException {
        if (luhn(number) == 3) { // one in ten
            throw new DeclinedException("card number is wrong");
        }
    }

    private static int luhn(long number) {
        int sum = 0;
        boolean twice = false;
        for (long rest = number; rest > 0; rest /= 10) {
            int digit = (int) (rest % 10);
            sum += twice ? crossSum(2 * digit) : digit;
            twice = !twice;
        }
        return sum % 10;
    }

    private static int crossSum(int n) {
        return n < 10 ? n : n - 9;
    }
}
