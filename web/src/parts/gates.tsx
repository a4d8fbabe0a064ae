// "Why does nothing happen?": every gate of the last look, shut ones first, with value, limit and what would open it.
import type { JSX } from "preact";
import type { Gate } from "../api/types";
import { quantity } from "../fmt/number";
import { hasWord, t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { Empty } from "./basic";
import { Icon } from "./icon";

const KINDS = ["service", "candidate", "person", "last"];

interface Branch {
  kind: string;
  title: string;
  gates: Gate[];
}

/** Kinds in the order of evaluation; candidate gates one branch for each knob and direction. */
export function branchesOf(gates: Gate[]): Branch[] {
  const out: Branch[] = [];
  for (const kind of KINDS) {
    const names = new Map<string, Gate[]>();
    for (const g of gates) {
      if (g.kind.toLowerCase() !== kind) continue;
      const name = g.knob ? `${g.knob}/${g.direction ?? ""}/${g.cause ?? ""}` : "";
      names.set(name, [...(names.get(name) ?? []), g]);
    }
    for (const [name, list] of names) {
      const first = list[0];
      const title =
        name && first
          ? t("gates.branch-knob", {
              kind: word("gate-kind", kind),
              knob: first.knob ?? "",
              direction: word("direction", first.direction ?? ""),
              cause: first.cause ?? t("unknown"),
            })
          : word("gate-kind", kind);
      out.push({ kind, title, gates: [...list].sort((a, b) => Number(b.shut) - Number(a.shut)) });
    }
  }
  return out;
}

function numbers(g: Gate): string {
  const known = (v: number | null | undefined): v is number => v !== null && v !== undefined;
  const unit = g.unit ?? "";
  if (known(g.value) && known(g.limit))
    return t("gates.both", { value: quantity(g.value, unit), limit: quantity(g.limit, unit) });
  if (known(g.value)) return t("gates.value", { value: quantity(g.value, unit) });
  if (known(g.limit)) return t("gates.limit", { limit: quantity(g.limit, unit) });
  return "";
}

function GateItem(p: { of: Gate }): JSX.Element {
  const g = p.of;
  const reason = g.reason ?? "";
  const advice = hasWord("opens", reason) ? word("opens", reason) : heard(g.opens_when);
  return (
    <li class={g.shut ? "shut" : "open"}>
      <Icon name={g.shut ? "lock" : "check"} />
      <span class="gate-word">{t(g.shut ? "gates.shut" : "gates.open")}</span>
      <div>
        <b>{hasWord("gate", reason) ? word("gate", reason) : reason}</b>
        {g.shut && <span> {hasWord("reason", reason) ? word("reason", reason) : heard(g.sentence)}</span>}{" "}
        <span class="num">{numbers(g)}</span>
        {g.note && g.shut && <div class="quote">{heard(g.note)}</div>}
        {g.shut && advice && <div class="opens">{t("gates.opens", { words: advice })}</div>}
      </div>
    </li>
  );
}

export function GateTree(p: { gates: Gate[]; leftOut: number }): JSX.Element {
  if (p.gates.length === 0) return <Empty>{t("gates.none")}</Empty>;
  return (
    <div class="gates">
      {branchesOf(p.gates).map((b) => {
        const shut = b.gates.filter((g) => g.shut).length;
        return (
          <details open={shut > 0} key={b.title}>
            <summary>
              {b.title} <small>{t("gates.count", { shut, open: b.gates.length - shut })}</small>
            </summary>
            <ul>
              {b.gates.map((g, i) => (
                <GateItem of={g} key={`${g.reason ?? ""}${String(i)}`} />
              ))}
            </ul>
          </details>
        );
      })}
      {p.leftOut > 0 && <p>{t("gates.left-out", { n: p.leftOut })}</p>}
    </div>
  );
}
