// A modal box: focus goes in, stays in, and comes back; Escape leaves without doing anything.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Dialog(p: { title: string; close: () => void; children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("textarea, input, select")?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby="dialog-title"
      onCancel={(e) => {
        e.preventDefault();
        p.close();
      }}
    >
      <article>
        <h2 id="dialog-title">{p.title}</h2>
        {p.children}
      </article>
    </dialog>
  );
}
