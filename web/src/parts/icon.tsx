// Shapes that differ without colour. Always beside a word, so hidden from screen readers.
import type { JSX } from "preact";

const PATHS = {
  check: "M3 8.5l3.2 3.2L13 5",
  cross: "M4 4l8 8M12 4l-8 8",
  dot: "M8 8h.01",
  alert: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.6h.01",
  info: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 7.5v3.5M8 5h.01",
  question: "M5.5 6a2.5 2.5 0 115 .2c0 1.6-2.5 1.8-2.5 3.6M8 12.5h.01",
  person: "M8 8a3 3 0 100-6 3 3 0 000 6zM2.5 14c.5-3 2.6-4.5 5.5-4.5s5 1.5 5.5 4.5",
  stop: "M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2zM5 8h6",
  gear:
    "M8 10.5a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM8 1.5v2.2M8 12.3v2.2M1.5 8h2.2M12.3 8h2.2" +
    "M3.400 3.400L5 5M11 11l1.6 1.6M12.6 3.400L11 5M5 11l-1.6 1.6",
  undo: "M6 3L2.5 6.5 6 10M3 6.5h6.5a4 4 0 010 8H7",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 100-4 2 2 0 000 4z",
  clock: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 4.5V8l2.5 1.5",
  lock: "M4 7.5h8V14H4zM5.5 7.5V5a2.5 2.5 0 015 0v2.5",
  open: "M4 7.5h8V14H4zM5.5 7.5V5a2.5 2.5 0 014.8-1",
  flag: "M4 14.5V2h8.5l-2 3 2 3H4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon(p: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[p.name]} />
    </svg>
  );
}
