// A page that cannot be drawn says so and leaves the frame, with the halt switch, standing.
import { Component, type ComponentChildren } from "preact";
import { t } from "../i18n/i18n";
import { Icon } from "./icon";

export class Boundary extends Component<{ children: ComponentChildren }, { words: string | null }> {
  override state = { words: null };

  static override getDerivedStateFromError(e: unknown): { words: string } {
    return { words: e instanceof Error ? e.message : String(e) };
  }

  override componentDidCatch(e: unknown): void {
    console.error(e);
  }

  override render(): ComponentChildren {
    if (this.state.words === null) return this.props.children;
    return (
      <div class="note tone-bad" role="alert">
        <Icon name="cross" />
        <span>{t("error.page", { words: this.state.words })}</span>
        <button
          type="button"
          class="small secondary"
          onClick={() => {
            location.reload();
          }}
        >
          {t("again")}
        </button>
      </div>
    );
  }
}
