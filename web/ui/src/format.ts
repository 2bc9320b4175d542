// Figures and names for people.

const thin = "\u202f";

export function count(n: number): string {
  const s = Math.round(Math.abs(n)).toString().replace(/\B(?=(\d{3})+$)/g, thin);
  return n < 0 ? "−" + s : s;
}

/** plural counts things. */
export function plural(n: number, one: string, many: string): string {
  return count(n) + " " + (n === 1 ? one : many);
}

/** short writes a large number with three digits and a unit. */
export function short(n: number): string {
  for (const [limit, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (n >= limit) return digits(n / limit) + thin + unit;
  }
  return Math.round(n).toString();
}

function digits(v: number): string {
  const a = Math.abs(v);
  return v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : 2);
}

/** time writes ns with three digits and a unit. */
export function time(ns: number): string {
  const a = Math.abs(ns), sign = ns < 0 ? "−" : "";
  if (a === 0) return "0";
  if (a >= 1e9) return sign + digits(a / 1e9) + thin + "s";
  if (a >= 1e6) return sign + digits(a / 1e6) + thin + "ms";
  if (a >= 1e3) return sign + digits(a / 1e3) + thin + "µs";
  return sign + Math.round(a) + thin + "ns";
}

export function mean(total: number, calls: number): string {
  if (calls <= 0) return "";
  const v = total / calls;
  return v > 0 && v < 10 ? v.toFixed(1) + thin + "ns" : time(v);
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return "";
  const p = (100 * part) / whole;
  return p >= 99.95 ? "100" : p >= 10 ? p.toFixed(1) : p >= 0.01 || p === 0 ? p.toFixed(2) : "<0.01";
}

export function bytes(n: number): string {
  for (const [limit, unit] of [[1 << 30, "GB"], [1 << 20, "MB"], [1 << 10, "KB"]] as const) {
    if (n >= limit) return digits(n / limit) + thin + unit;
  }
  return n + thin + "B";
}

export function ago(iso: string): string {
  const s = Math.max(0, (Date.now() - Date.parse(iso)) / 1000);
  if (s < 100) return Math.round(s) + " s";
  if (s < 6000) return Math.round(s / 60) + " min";
  if (s < 172800) return Math.round(s / 3600) + " h";
  return Math.round(s / 86400) + " d";
}

export function clock(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8);
}

/** day is the time of today, else the date. */
export function day(iso: string): string {
  const d = new Date(iso);
  return d.toDateString() === new Date().toDateString() ? clock(iso) : d.toISOString().slice(0, 10);
}

export interface Name { pkg: string; cls: string; method: string; args: string; whole: string; loader: string; place: string }

const primitive: Record<string, string> = { B: "byte", C: "char", D: "double", F: "float", I: "int", J: "long", S: "short", Z: "boolean", V: "void" };

/** parse splits pkg.Outer$Inner.method(descriptor)return. Functions, and what is no method, such as "(JIT compiler C2)", stay whole. */
export function parse(whole: string, loader = "", place = ""): Name {
  if (loader === "frameworks") return { pkg: "", cls: "", method: "… " + whole, args: "", whole, loader: "", place }; // levels that a row stands for
  if (loader === "type") { // what is allocated, in a flame graph
    const p = whole.split(" (")[0].lastIndexOf(".");
    return { pkg: p < 0 ? "" : whole.slice(0, p), cls: "", method: whole.slice(p + 1), args: "", whole, loader: "", place };
  }
  if (whole.startsWith("(") || loader === "native" || loader === "kernel") return { pkg: "", cls: "", method: whole, args: "", whole, loader, place };
  const open = whole.indexOf("(");
  const head = open < 0 ? whole : whole.slice(0, open);
  const dot = head.lastIndexOf(".");
  const owner = dot < 0 ? "" : head.slice(0, dot);
  const p = owner.lastIndexOf(".");
  const args = open < 0 ? "" : "(" + types(whole.slice(open + 1, whole.indexOf(")"))).join(", ") + ")";
  return { pkg: p < 0 ? "" : owner.slice(0, p), cls: owner.slice(p + 1), method: head.slice(dot + 1), args, whole, loader, place };
}

/** types reads parameter descriptors (JVMS 4.3.3) as simple names. */
function types(d: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < d.length; i++) {
    let dims = "";
    for (; d[i] === "["; i++) dims += "[]";
    if (d[i] === "L") {
      const end = d.indexOf(";", i);
      if (end < 0) break;
      out.push(d.slice(i + 1, end).replace(/^.*\//, "") + dims);
      i = end;
    } else {
      out.push((primitive[d[i]] ?? d[i]) + dims);
    }
  }
  return out;
}

/** base is a main class's or jar's last part. */
export function base(main: string): string {
  return main.replace(/^.*\//, "") || "?";
}

const schemes: Record<string, string> = { A: "all at once (A)", B: "as called (B)", C: "as called + look ahead (C)", D: "what is active (D)" };

/** schemeName says what a scheme does; other names stay. */
export function schemeName(scheme: string): string {
  return schemes[scheme] ?? scheme;
}

/** clockName says what a clock is good for. */
export function clockName(clock: string): string {
  return clock === "tick" ? "low overhead (tick)" : clock === "precise" ? "exact timing (precise)" : clock;
}
