// A list that draws only the rows in sight: a thousand services scroll like ten.
import type { ComponentChild, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const SPARE = 6;

export interface Slice {
  first: number;
  end: number;
}

export function visible(top: number, height: number, row: number, total: number): Slice {
  const first = Math.max(0, Math.floor(top / row) - SPARE);
  return { first, end: Math.min(total, Math.ceil((top + height) / row) + SPARE) };
}

/** Rows have one height, set in the style sheet and read from the first row drawn. */
export function VirtualList<T>(p: {
  items: T[];
  keyOf: (item: T) => string;
  row: (item: T, index: number) => ComponentChild;
  label: string;
  guess: number;
}): JSX.Element {
  const box = useRef<HTMLUListElement>(null);
  const [view, setView] = useState({ top: 0, height: 800, row: p.guess });
  useEffect(() => {
    const look = (): void => {
      const el = box.current;
      if (!el) return;
      const first = el.querySelector<HTMLElement>("li");
      const top = Math.max(0, -el.getBoundingClientRect().top);
      const row = Math.max(20, first?.offsetHeight ?? p.guess);
      setView((old) =>
        old.top === top && old.height === innerHeight && old.row === row ? old : { top, height: innerHeight, row },
      );
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [p.items.length]);
  const { first, end } = visible(view.top, view.height, view.row, p.items.length);
  return (
    <ul class="virtual" ref={box} aria-label={p.label} style={{ height: `${String(p.items.length * view.row)}px` }}>
      {p.items.slice(first, end).map((item, i) => (
        <li
          key={p.keyOf(item)}
          aria-setsize={p.items.length}
          aria-posinset={first + i + 1}
          style={{ transform: `translateY(${String((first + i) * view.row)}px)` }}
        >
          {p.row(item, first + i)}
        </li>
      ))}
    </ul>
  );
}
