package shop.orders;

/** Compares a customer's name with those of known swindlers, letter by letter. */
final class FraudCheck {
    private static final String[] SWINDLERS = swindlers();

    /** Throws if the customer is one of them; a name that is only near is let through. */
    void check(Customer customer) throws RefusedException {
        int nearest = Integer.MAX_VALUE;
        for (String swindler : SWINDLERS) {
            nearest = Math.min(nearest, distance(customer.name(), swindler));
        }
        if (nearest == 0) {
            throw new RefusedException("fraud suspected", null);
        }
    }

    /** Levenshtein's distance: a method that takes its time without calling anything of ours. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }

    private static String[] swindlers() {
        String[] names = new String[30];
        for (int i = 0; i < names.length; i++) {
            names[i] = "Victor Lustig " + i;
        }
        names[7] = "Grace 9";
        return names;
    }
}
