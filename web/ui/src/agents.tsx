// Users' scripts beside the recording: what they printed, and which have failed.

import { store } from "./conn";
import { count, plural } from "./format";
import type { Agent } from "./model";
import { ui } from "./ui";

export function Agents() {
  const agents = store.state?.agents ?? [];
  if (agents.length === 0 || ui.source !== 0) return null;
  return <section id="agents"><h3>Agents</h3>{agents.map((a) => <One key={a.name} a={a} />)}</section>;
}

function One({ a }: { a: Agent }) {
  return (
    <details open>
      <summary class={a.failed ? "warn" : ""}><b>{a.name}</b> <span class="muted">{plural(a.activations, "activation", "activations")}{a.failed ? ", failed and disabled" : ""}</span></summary>
      {a.failed && <pre class="warn">{a.failed}</pre>}
      {(a.dropped ?? 0) > 0 && <p class="muted">{count(a.dropped!)} lines before these are left out.</p>}
      {a.output.length > 0 && <pre>{a.output.join("\n")}</pre>}
      {a.files && a.files.length > 0 && <p class="muted">Files in {a.folder}: {a.files.join(", ")}</p>}
    </details>
  );
}
