// Small parts that several views have in common.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { store } from "./conn";
import { mean, time, type Name } from "./format";

export function MethodName({ name, pkg = true }: { name: Name; pkg?: boolean }) {
  return (
    <span class="name" title={name.whole + (name.place && "\n" + name.place) + (name.loader && name.loader !== "app" ? "\nloader " + name.loader : "")}>
      {pkg && name.pkg && <span class="pkg">{name.pkg}.</span>}<wbr />
      <span class="cls">{name.cls}{name.cls && "."}</span><wbr />
      <b>{name.method}</b>
      <wbr /><span class="args">{name.args}</span>
    </span>
  );
}

/** Place is the source file, and the line where the method's code begins. */
export function Place({ name }: { name: Name }) {
  return name.place ? <span class="place muted" title="Source file, and the line where its code begins">{name.place}</span> : null;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  );
}

export function ErrorLine({ text, close }: { text: string; close?: () => void }) {
  if (!text) return null;
  return (
    <div class="error" role="alert">
      <span>{text}</span>
      {close && <button class="plain" onClick={close} aria-label="Dismiss this message">✕</button>}
    </div>
  );
}

/** NumberField takes numbers from 1 to most. What is being typed stays, whatever is drawn anew meanwhile. */
export function NumberField({ id, value, most, set }: { id?: string; value: number; most: number; set: (n: number) => void }) {
  const [text, setText] = useState<string | null>(null);
  const typed = (t: string) => {
    setText(t);
    if (t !== "") set(Math.max(1, Math.min(most, Math.round(Number(t)) || 1)));
  };
  return <input id={id} type="number" min="1" max={most} value={text ?? value} onInput={(e) => typed(e.currentTarget.value)} onBlur={() => setText(null)} />;
}

/** Async marks executions of tasks that the caller handed over: by an arrow and words, with how long they waited for it. */
export function Async({ calls, waited, longest }: { calls: number; waited: number; longest: number }) {
  return (
    <span class="tag async" title={`Executed as async tasks of the caller, on whatever thread. They waited for it ${mean(waited, calls) || 0} on the average, ${time(longest)} at the longest.`}>
      asynchronous, queued {mean(waited, calls) || 0}
    </span>
  );
}

/** Arrow stands before the name of what is executed as a task. */
export const arrow = "⇢";

/** Share is a bar: the whole in light, its own part in dark. */
export function Share({ part, own, whole }: { part: number; own: number; whole: number }) {
  const w = (v: number) => (whole > 0 ? Math.min(100, (100 * v) / whole) : 0) + "%";
  return (
    <span class="share" aria-hidden="true">
      <span class="whole" style={{ width: w(part) }} />
      <span class="own" style={{ width: w(own) }} />
    </span>
  );
}

/** Trouble is the last line of the log, where that is no good news. */
export function Trouble() {
  const last = store.log[store.log.length - 1];
  return last && last.level !== "info" ? <p class={last.level === "error" ? "worse" : "warn"} role="alert">{last.text}</p> : null;
}
