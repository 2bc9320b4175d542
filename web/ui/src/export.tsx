// Writing a recording or a comparison to a file of the browser's.

import { useState } from "preact/hooks";
import { api, download } from "./conn";
import type { useAction } from "./hooks";

interface Form { name: string; ending: string; timeline?: boolean }

export type Act = ReturnType<typeof useAction>;

/** Export writes a recording to a file of the browser's. */
export function Export({ source, label, act, comparison, timeline }: { source: number; label: string; act: Act; comparison?: boolean; timeline?: boolean }) {
  const [all, setForms] = useState<Form[]>([]);
  const load = () => { if (all.length === 0) void api<Form[]>("formats").then(setForms, () => setForms([])); };
  const forms = comparison ? all.filter((f) => f.name === "json" || f.name === "text") : all.filter((f) => !f.timeline || timeline);
  return (
    <select class="export" aria-label={label} value="" onFocus={load} onPointerEnter={load} onChange={(e) => {
      const format = e.currentTarget.value;
      e.currentTarget.value = "";
      if (format) void act.run("export", () => download(source, format));
    }}>
      <option value="">{label}</option>
      {forms.map((f) => <option value={f.name} key={f.name}>{f.timeline ? "timeline for Perfetto" : f.name} ({f.ending})</option>)}
    </select>
  );
}
