package relink;

import java.lang.invoke.SwitchPoint;
import java.util.List;

/** Steps that call through the sites of {@link Sites}, having relinked some. */
final class SiteSteps {
    private SiteSteps() {}

    static void addTo(List<Main.Step> steps) {
        addRelinked(steps);
        addConstant(steps);
        addCombined(steps);
        addLooked(steps);
    }

    private static void addRelinked(List<Main.Step> steps) {
        steps.add(x -> { Boot.MUTABLE.setTarget(Boot.target("mutableA")); return Sites.mutable(x) + Sites.mutable(1); });
        steps.add(x -> { Boot.MUTABLE.setTarget(Boot.target("mutableB")); return Sites.mutable(x) + Sites.mutable(1); });
        steps.add(x -> { Boot.VOLATILE.setTarget(Boot.target("volatileA")); return Sites.volatil(x) + Sites.volatil(1); });
        steps.add(x -> { Boot.VOLATILE.setTarget(Boot.target("volatileB")); return Sites.volatil(x) + Sites.volatil(1); });
        steps.add(x -> { Relinker.hand(Boot.target("handedA")); return Sites.handed(x); });
        steps.add(x -> { Relinker.hand(Boot.target("handedB")); return Sites.handed(x) + Sites.handed(x); });
        steps.add(x -> Sites.flip(x) + Sites.flip(x) + Sites.flip(x));
        steps.add(x -> {
            if (Boot.point != null) SwitchPoint.invalidateAll(new SwitchPoint[] {Boot.point});
            return Sites.switched(x) + Sites.switched(x);
        });
        steps.add(x -> { // the chain begins empty, so that it is the same whatever came before
            Boot.clearChain();
            return Sites.chain("a") + Sites.chain(1) + Sites.chain("b") + Sites.chain(1L) + Sites.chain(2) + Sites.chain('c');
        });
        steps.add(x -> { Boot.SLOW.setTarget(Boot.target("mutableA")); return Sites.fallback(1) + Sites.fallback(2); });
        steps.add(x -> { Boot.SLOW.setTarget(Boot.target("mutableB")); return Sites.fallback(1) + Sites.fallback(2); });
    }

    private static void addConstant(List<Main.Step> steps) {
        steps.add(Sites::fresh);
        steps.add(Sites::shared);
        steps.add(Sites::sharedToo);
        steps.add(Sites::leaf);
        steps.add(Sites::nest);
        steps.add(Sites::stored);
        steps.add(x -> (int) Sites.wide(x, 1.5, "abc"));
    }

    private static void addCombined(List<Main.Step> steps) {
        steps.add(Sites::inserted);
        steps.add(x -> Sites.dropped(x, 1, 2));
        steps.add(x -> Sites.permuted(x, 1));
        steps.add(x -> Sites.filtered(x, 1));
        steps.add(Sites::filteredResult);
        steps.add(Sites::folded);
        steps.add(x -> Sites.selected(1) + Sites.selected(2) + Sites.selected(4));
        steps.add(x -> Sites.spread(new int[] {1, 2, x}));
        steps.add(x -> Sites.collected(1, 2, x));
        steps.add(x -> Sites.varargs(1, x));
        steps.add(Sites::invoker);
        steps.add(Sites::exactInvoker);
        steps.add(x -> Sites.spreadInvoker(new Object[] {1, x}));
        steps.add(Sites::caught);
    }

    private static void addLooked(List<Main.Step> steps) {
        Targets.Base base = new Targets.Base();
        Targets.Derived derived = new Targets.Derived(3);
        Targets.Derived special = Handles.Special.make();
        Targets.Face face = new Targets.Faced();
        steps.add(x -> Sites.virtual(base, x) + Sites.virtual(derived, x));
        steps.add(x -> Sites.special(special, x));
        steps.add(x -> Sites.face(face, x));
        steps.add(x -> Sites.constructor(x).hashCode());
        steps.add(Sites::bound);
        steps.add(Sites::unreflected);
    }
}
