import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { subscribe } from "./conn";

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
export function useAction(): { busy: string; error: string; run: (what: string, f: () => Promise<unknown>) => Promise<void>; clear: () => void } {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  return {
    busy, error, clear: () => setError(""),
    run: async (what, f) => {
      setBusy(what);
      setError("");
      try {
        await f();
      } catch (e) {
        setError(e instanceof Error ? e.message : String(e));
      } finally {
        setBusy("");
      }
    },
  };
}
