import { useEffect, useRef } from "preact/hooks";

const keys: [string, string][] = [
  ["1 … 9, 0", "the views, in the order of their tabs; the keys then go to the view's list"],
  ["/", "filter or highlight"],
  ["↑ ↓ Enter, Ctrl+Enter", "where roots are chosen: choose what was found; start the recording"],
  ["r", "stop the recording or the comparison; record again"],
  ["p", "pause the recording, and go on, where the session can"],
  ["s", "save a snapshot"],
  ["d", "light or dark"],
  ["↑ ↓ PgUp PgDn", "move in a table"],
  ["→ ←", "open and close a node; to its first callee, to its caller"],
  ["Enter", "tree: zoom the flame graph there; methods: callers and callees"],
  ["c", "callers and callees of the selected method"],
  ["m, right button", "what can be done with the selected method: use or add as root, exclude, count only, callers, copy its name, open its source"],
  ["h", "open the hot path"],
  ["f", "tree: show the levels of frameworks that the selected row stands for"],
  ["arrows, Enter, Esc", "in the flame graph: move, zoom in, zoom out"],
  ["+ − 0, Shift+← →", "in the timeline: zoom in and out, show all, move; arrows, Enter, Esc as in the flame graph; h goes from an async task to the call that submitted it, or back"],
  ["?", "this sheet"],
];

const terms: [string, string][] = [
  ["Total", "time in a method and in all that it calls, along this path; in Methods over all paths, recursion counted once"],
  ["Self", "its own time, with what it calls in the JDK or other code without probes; the probes' cost is taken off"],
  ["±", "how far Self may be off: with the tick clock about the square root of its number of ticks"],
  ["Calls", "invocations begun; counted, not estimated. Thrown: those that an exception ended"],
  ["Paused by Rivulet", "time that Rivulet made threads wait while it instrumented; in no method's time"],
  ["Overhead removed", "what the probes themselves cost, measured in this JVM and taken off every time that is shown"],
  ["Call path", "a method, called along one way from the root; a line of the tree"],
  ["Root call", "a call of the root from outside: what is recorded begins and ends with it"],
];

export function Help({ close }: { close: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} onClose={close} onClick={(e) => e.target === ref.current && ref.current?.close()} aria-label="Help">
      <div class="sheet">
        <h2>Keys</h2>
        <dl>{keys.map(([k, t]) => <div key={k}><dt><kbd>{k}</kbd></dt><dd>{t}</dd></div>)}</dl>
        <h2>Terms</h2>
        <dl>{terms.map(([k, t]) => <div key={k}><dt>{k}</dt><dd>{t}</dd></div>)}</dl>
        <p><button onClick={() => ref.current?.close()}>Close</button></p>
      </div>
    </dialog>
  );
}
