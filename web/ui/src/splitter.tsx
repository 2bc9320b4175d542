// The line below the flame graph that is dragged, or moved by keys, to make it higher or lower.

import { useRef, useState } from "preact/hooks";

const least = 90, step = 24;

export function Splitter() {
  const ref = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  const box = () => ref.current?.previousElementSibling as HTMLElement;
  const now = () => box().getBoundingClientRect().height;
  const set = (to: number) => {
    box().style.height = Math.max(least, to) + "px";
    setHeight(Math.round(now())); // a style bounds it
  };
  const drag = (e: PointerEvent) => {
    const y = e.clientY, high = now(), end = new AbortController();
    const move = (e: PointerEvent) => set(high + e.clientY - y);
    addEventListener("pointermove", move, { signal: end.signal });
    addEventListener("pointerup", (e) => { move(e); end.abort(); }, { signal: end.signal });
    addEventListener("pointercancel", () => end.abort(), { signal: end.signal });
    e.preventDefault(); // or text would be selected
  };
  return (
    <div
      class="splitter" ref={ref} role="separator" tabIndex={0} aria-orientation="horizontal" aria-label="Height of the flame graph" aria-valuemin={least} aria-valuenow={height || least}
      onPointerDown={drag}
      onDblClick={() => { box().style.height = ""; setHeight(0); }}
      onKeyDown={(e) => {
        const by = e.key === "ArrowDown" ? step : e.key === "ArrowUp" ? -step : 0;
        if (!by) return;
        set(now() + by);
        e.preventDefault();
        e.stopPropagation();
      }}
    />
  );
}
