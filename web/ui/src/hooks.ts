import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { Refusal, subscribe } from "./conn";
import { palette, type Palette } from "./icicle";

/** useStore draws the component anew when something has changed. */
export function useStore(): void {
  const [, draw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => subscribe(() => draw(undefined as never)), []);
}

/** useSize measures an element. */
export function useSize<T extends HTMLElement>(): [{ current: T | null }, { width: number; height: number }] {
  const ref = useRef<T>(null);
  const [size, set] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const watch = new ResizeObserver(() => set({ width: el.clientWidth, height: el.clientHeight }));
    watch.observe(el);
    set({ width: el.clientWidth, height: el.clientHeight });
    return () => watch.disconnect();
  }, []);
  return [ref, size];
}

/** useAction runs something that may fail; its error is to be shown. */
export function useAction(): { busy: string; error: string; option: string; run: (what: string, f: () => Promise<unknown>) => Promise<void>; clear: () => void } {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  const [option, setOption] = useState(""); // that would do it all the same
  return {
    busy, error, option: error && option, clear: () => setError(""),
    run: async (what, f) => {
      setBusy(what);
      setError("");
      try {
        await f();
      } catch (e) {
        setError(e instanceof Error ? e.message : String(e));
        setOption(e instanceof Refusal ? e.option : "");
      } finally {
        setBusy("");
      }
    },
  };
}

/** usePalette has the colours of the style sheet, and draws anew when they change. */
export function usePalette(): Palette {
  const [theme, setTheme] = useState(palette);
  useEffect(() => {
    const again = () => setTheme(palette());
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", again);
    const attr = new MutationObserver(again);
    attr.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => (dark.removeEventListener("change", again), attr.disconnect());
  }, []);
  return theme;
}
