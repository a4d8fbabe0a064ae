// What a person chose for this browser: language and light or dark.
import { effect, signal } from "@preact/signals";

export type Lang = "en" | "zh";
export type Theme = "auto" | "light" | "dark";

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser without storage forgets; nothing else depends on it.
  }
}

function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function chooseLang(stored: string | null, wishes: readonly string[]): Lang {
  if (stored === "en" || stored === "zh") return stored;
  const first = wishes.find((w) => /^(en|zh)\b/i.test(w));
  return first?.toLowerCase().startsWith("zh") ? "zh" : "en";
}

const wishes = typeof navigator === "undefined" ? [] : navigator.languages;
export const lang = signal<Lang>(chooseLang(kept("trimtab.lang"), wishes));
const storedTheme = kept("trimtab.theme");
export const theme = signal<Theme>(storedTheme === "light" || storedTheme === "dark" ? storedTheme : "auto");

export function setLang(value: Lang): void {
  lang.value = value;
  keep("trimtab.lang", value);
}

export function setTheme(value: Theme): void {
  theme.value = value;
  keep("trimtab.theme", value);
}

const darkWish = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(darkWish?.matches ?? false);
darkWish?.addEventListener("change", (e) => (systemDark.value = e.matches));

export const isDark = (): boolean => theme.value === "dark" || (theme.value === "auto" && systemDark.value);

export function applySettings(): void {
  effect(() => {
    document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  });
}
