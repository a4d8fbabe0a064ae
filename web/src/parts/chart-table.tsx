// The charts as text: at most 25 rows over the same range, and the marks in words.
import type { JSX } from "preact";
import type { Mark, SeriesSignal } from "../api/types";
import { quantity } from "../fmt/number";
import { clock, day } from "../fmt/time";
import { t, word } from "../i18n/i18n";
import { heard } from "../i18n/said";
import { Empty, Fold, Scroll, When } from "./basic";
import { MARK_LETTER } from "./chart-options";
import { indexAt } from "./chart";

const ROWS = 25;

export function sampleTimes(times: number[], most = ROWS): number[] {
  if (times.length <= most) return times;
  const out: number[] = [];
  for (let i = 0; i < most; i += 1) {
    const v = times[Math.round((i * (times.length - 1)) / (most - 1))];
    if (v !== undefined) out.push(v);
  }
  return out;
}

export function ChartTable(p: { signals: SeriesSignal[] }): JSX.Element {
  const times = sampleTimes(p.signals[0]?.t ?? []);
  return (
    <Fold title={t("chart.table")}>
      <Scroll label={t("chart.table")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("chart.time")}</th>
              {p.signals.map((s) => (
                <th scope="col" key={s.name}>
                  {s.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((at) => (
              <tr key={at}>
                <th scope="row" title={day(new Date(at * 1000))}>
                  {clock(new Date(at * 1000))}
                </th>
                {p.signals.map((s) => (
                  <td class="num" key={s.name}>
                    {quantity(s.mean[indexAt(s.t, at)] ?? null, s.unit)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Fold>
  );
}

export function MarkList(p: { marks: Mark[] }): JSX.Element {
  return (
    <Fold title={t("chart.marks", { n: p.marks.length })} open={p.marks.length > 0 && p.marks.length <= 6}>
      {p.marks.length === 0 && <Empty>{t("chart.no-marks")}</Empty>}
      <ul class="marks">
        {[...p.marks]
          .sort((a, b) => b.t - a.t)
          .map((m) => (
            <li key={m.seq}>
              <span class={`letter mark-${m.kind}`} aria-hidden="true">
                {MARK_LETTER[m.kind] ?? "?"}
              </span>
              <When at={m.at} /> <b>{word("mark", m.kind)}</b> <span>{heard(m.text)}</span>
            </li>
          ))}
      </ul>
    </Fold>
  );
}
