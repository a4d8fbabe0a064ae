// A bed for the tests: the real daemon and the real demo target on ports of their own, people who may log in, and a browser.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const PEOPLE = { vera: "viewer", olga: "operator", adam: "admin" };
export const PASSWORD = "correct horse battery";
const TOP = new URL("../..", import.meta.url).pathname;

/** Asks until it is so; each answer of the other side is the event waited for. */
export async function until(what, ask, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  let last;
  while (Date.now() < end) {
    last = await ask();
    if (last) return last;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`not so in ${seconds} s: ${what}`);
}

export function ask(method, base, path, body, headers = {}) {
  const url = new URL(path, base);
  return new Promise((done, fail) => {
    const r = http.request(url, { method, headers, agent: false }, (a) => {
      let text = "";
      a.setEncoding("utf8");
      a.on("data", (piece) => (text += piece));
      a.on("end", () => done({ status: a.statusCode, text }));
    });
    r.on("error", fail);
    r.end(body ?? "");
  });
}

/** Stands before the target, so that a test can hold back a write on its way. */
export class Gate {
  constructor(target) {
    this.target = target;
    this.held = [];
    this.holding = false;
    this.server = http.createServer((q, a) => this.pass(q, a));
  }

  async open() {
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.address = `127.0.0.1:${this.server.address().port}`;
  }

  pass(q, a) {
    const parts = [];
    q.on("data", (piece) => parts.push(piece));
    q.on("end", () => {
      const send = () => this.forward(q, a, Buffer.concat(parts));
      if (q.method === "PUT" && this.holding) this.held.push(send);
      else send();
    });
  }

  forward(q, a, body) {
    const headers = { ...q.headers, host: this.target };
    const [host, port] = this.target.split(":");
    const r = http.request({ host, port, path: q.url, method: q.method, headers, agent: false }, (b) => {
      a.writeHead(b.statusCode ?? 502, b.headers);
      b.pipe(a);
    });
    r.on("error", () => a.destroy());
    r.end(body);
  }

  release() {
    this.holding = false;
    for (const send of this.held.splice(0)) send();
  }

  close() {
    this.server.closeAllConnections?.();
    this.server.close();
  }
}

/** The healthy past: 26 hours around the level of the demo's plant, with noise that repeats. */
function history(end) {
  let seed = 7;
  const noise = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 1073741824 - 1;
  };
  const columns = { latency_p99: [38, 0.9], latency_mean: [27, 0.5], error_ratio: [0, 0], queue_depth: [98, 5] };
  Object.assign(columns, {
    throughput: [21000, 150],
    arrivals: [21000, 150],
    batch_size: [28, 0.4],
    kernel_ms: [12.7, 0.06],
  });
  Object.assign(columns, {
    gpu_util: [0.717, 0.005],
    gpu_memory: [0.512, 0],
    feature_fetch_ms: [6.05, 0.06],
    cache_hit: [0.85, 0.003],
  });
  const rows = [["timestamp", ...Object.keys(columns)].join(",")];
  for (let i = 3120; i > 0; i -= 1) {
    const at = new Date(end - i * 30_000).toISOString().replace(/\.\d+Z/, "Z");
    rows.push([at, ...Object.values(columns).map(([mid, range]) => (mid + range * noise()).toFixed(5))].join(","));
  }
  return rows.join("\n") + "\n";
}

export class Bed {
  constructor(program, options = {}) {
    this.program = program;
    this.speed = options.speed ?? 40;
    this.mode = options.mode ?? "auto";
    this.edit = options.edit ?? ((text) => text);
    this.folder = mkdtempSync(join(tmpdir(), "trimtab-web-"));
    this.data = join(this.folder, "data");
    this.children = [];
  }

  spawn(args, log) {
    const child = spawn(this.program, args, { stdio: ["ignore", "ignore", "pipe"] });
    child.words = "";
    child.stderr.on("data", (piece) => (child.words += piece));
    child.name = log;
    this.children.push(child);
    return child;
  }

  async startTarget() {
    const file = join(this.folder, "target.address");
    this.target = this.spawn(
      ["target", "--listen", "127.0.0.1:0", "--port-file", file, "--speed", String(this.speed)],
      "target",
    );
    await until("the target tells its address", () => existsSync(file) && readFileSync(file, "utf8").trim());
    this.targetAddress = readFileSync(file, "utf8").trim();
    this.gate = new Gate(this.targetAddress);
    await this.gate.open();
  }

  writeConfig(text) {
    const config = join(this.folder, "config.yaml");
    writeFileSync(config, text);
    return config;
  }

  demoConfig() {
    const text = readFileSync(join(TOP, "examples/demo.yaml"), "utf8");
    return this.edit(text.replace("127.0.0.1:9464", this.gate.address).replace("mode: auto", `mode: ${this.mode}`));
  }

  async startDaemon(listen = "127.0.0.1:0", more = []) {
    const listenFile = join(this.data, "listen");
    rmSync(listenFile, { force: true });
    const args = ["serve", "--config", this.config, "--data", this.data, "--listen", listen];
    this.daemon = this.spawn([...args, "--speed", String(this.speed), ...more], "daemon");
    await until(
      "the daemon tells its address",
      () => {
        if (this.daemon.exitCode !== null) throw new Error(`the daemon ended: ${this.daemon.words}`);
        return existsSync(listenFile) && readFileSync(listenFile, "utf8").trim();
      },
      30,
    );
    this.address = readFileSync(listenFile, "utf8").trim().split("\n")[0].split(" ")[0];
    this.base = `http://${this.address}`;
    this.token = readFileSync(join(this.data, "token"), "utf8").trim();
  }

  async start({ warm = true, people = true } = {}) {
    await this.startTarget();
    this.config = this.writeConfig(this.demoConfig());
    await this.startDaemon();
    if (warm) await this.import();
    if (people) await this.addPeople();
    return this;
  }

  async addPeople() {
    const file = join(this.folder, "password");
    writeFileSync(file, PASSWORD + "\n");
    for (const [name, role] of Object.entries(PEOPLE)) {
      this.cli("user", "add", name, "--role", role, "--password-file", file, "--data", this.data);
    }
    // The daemon takes notice of a foreign change within a second.
    const known = async () => (await this.api("/api/v1/users")).users.map((u) => u.name);
    await until("the daemon knows them", async () => {
      const names = await known();
      return Object.keys(PEOPLE).every((n) => names.includes(n));
    });
  }

  cli(...args) {
    return execFileSync(this.program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  async api(path) {
    const r = await ask("GET", this.base, path, null, { Authorization: `Bearer ${this.token}` });
    const body = JSON.parse(r.text);
    if (r.status !== 200) throw new Error(`${path}: ${r.status} ${r.text}`);
    return body.data;
  }

  async post(path, body) {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    return ask("POST", this.base, path, JSON.stringify(body ?? {}), headers);
  }

  async import() {
    const status = await this.api("/api/v1/status");
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "text/csv" };
    const rows = history(new Date(status.started).getTime());
    const r = await ask("POST", this.base, "/api/v1/import?service=embedding&by=test&last=true", rows, headers);
    if (r.status !== 200) throw new Error(`import: ${r.status} ${r.text}`);
  }

  world(name) {
    return ask("POST", `http://${this.targetAddress}`, `/world/${name}`, "", { "Content-Length": "0" });
  }

  /** The target's own word on a knob. */
  async knob(name) {
    return JSON.parse((await ask("GET", `http://${this.targetAddress}`, `/config/${name}`)).text).value;
  }

  setKnob(name, value) {
    return ask("PUT", `http://${this.targetAddress}`, `/config/${name}`, JSON.stringify({ value }), {
      "Content-Type": "application/json",
    });
  }

  service() {
    return this.api("/api/v1/services/embedding");
  }

  untilState(want, seconds = 60) {
    const names = Array.isArray(want) ? want : [want];
    return until(`state ${names.join(" or ")}`, async () => names.includes((await this.service()).state), seconds);
  }

  async record(kind, seconds = 60, from = 0) {
    return until(
      `a record ${kind}`,
      async () => (await this.api(`/api/v1/audit?from=${from}&limit=1000`)).records.find((r) => r.kind === kind),
      seconds,
    );
  }

  async end(child, sign = "SIGTERM") {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(sign);
    const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(late);
  }

  async stop() {
    for (const child of this.children.reverse()) await this.end(child);
    this.gate?.close();
    this.fleet?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
