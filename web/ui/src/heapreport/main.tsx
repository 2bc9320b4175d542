// The HTML report of a heap: the live page's view of it, with the data in the file.

import { render } from "preact";
import { HeapView, type HeapReport } from "../heapview";
import "../style.css";

const root = document.getElementById("app")!;
const report = JSON.parse(document.getElementById("data")!.textContent!) as HeapReport;
root.textContent = "";
render(
  <main class="page inside">
    <h1>{document.title.replace(/ - Rivulet$/, "")}</h1>
    {report.allocations && <p class="muted">Who allocated: {report.allocations}</p>}
    <HeapView report={report} />
  </main>,
  root,
);
