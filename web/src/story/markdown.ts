// The story as Markdown, for a chat or a ticket. Names come from outside: what Markdown would read as markup is escaped.
import type { Story } from "../api/types";
import { full } from "../fmt/time";
import { t, word } from "../i18n/i18n";
import { factLabel, type Step } from "./incident";

export function escape(text: string): string {
  return text.replace(/[\\`*_[\]<>|#]/g, (c) => `\\${c}`);
}

function code(text: string): string {
  const fence = text.includes("`") ? "``" : "`";
  return `${fence}${text}${fence}`;
}

export function storyMarkdown(s: Story, steps: Step[], address: string): string {
  const out = [
    `# ${escape(t("incident.title", { service: s.service, n: s.incident }))}`,
    "",
    escape(t("incident.summary", { symptom: s.symptom, state: word("incident-state", s.state) })),
    "",
  ];
  for (const x of steps) {
    const at = x.at ? full(x.at) : t("story.no-time");
    out.push(`- **${word("head", x.head)}** ${at}: ${escape(x.text)}`);
    for (const f of x.facts) out.push(`  - ${f.label ? `${factLabel(f.label)}: ` : ""}${code(f.text)}`);
  }
  out.push("", address, "");
  return out.join("\n");
}
