// People and tokens: for admins.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, may, post, remove, seg } from "../api/client";
import type { Token, User } from "../api/types";
import { t, word } from "../i18n/i18n";
import { say } from "../parts/act";
import { Ago, Choice, Empty, errorText, Heading, Scroll, Show, When } from "../parts/basic";
import { Dialog } from "../parts/dialog";
import { useLoad } from "../state/load";

type GivenRole = User["role"];
const ROLES: GivenRole[] = ["viewer", "operator", "admin"];

function useRun(after: () => void): { error: string | null; run: (work: Promise<unknown>, done: string) => void } {
  const [error, setError] = useState<string | null>(null);
  const run = (work: Promise<unknown>, done: string): void => {
    setError(null);
    work.then(
      () => {
        say(done);
        after();
      },
      (e: unknown) => {
        setError(e instanceof ApiError ? errorText(e) : String(e));
      },
    );
  };
  return { error, run };
}

function Problem(p: { text: string | null }): JSX.Element {
  return <div role="alert">{p.text && <p class="note tone-bad">{p.text}</p>}</div>;
}

function RoleChoice(p: { value: GivenRole; set: (v: GivenRole) => void }): JSX.Element {
  return (
    <Choice
      label={t("users.role")}
      value={p.value}
      set={p.set}
      options={ROLES.map((v) => ({ value: v, text: word("role", v) }))}
    />
  );
}

function AddUser(p: { again: () => void }): JSX.Element {
  const [role, setRole] = useState<GivenRole>("viewer");
  const { error, run } = useRun(p.again);
  const add = (e: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    e.preventDefault();
    const form = e.currentTarget;
    const f = new FormData(form);
    const name = String(f.get("name"));
    const work = post("/api/v1/users", { name, role, password: String(f.get("password")) }).then(() => {
      form.reset();
    });
    run(work, t("users.added", { name }));
  };
  return (
    <form class="inline-form" onSubmit={add as unknown as JSX.SubmitEventHandler<HTMLFormElement>}>
      <label>
        {t("login.name")}
        <input name="name" required maxLength={60} autocomplete="off" />
      </label>
      <label>
        {t("login.password")}
        <input
          name="password"
          type="password"
          required
          minLength={12}
          autocomplete="new-password"
          aria-describedby="pw-hint"
        />
      </label>
      <RoleChoice value={role} set={setRole} />
      <button type="submit">{t("users.add")}</button>
      <small id="pw-hint">{t("users.password-hint")}</small>
      <Problem text={error} />
    </form>
  );
}

function ChangeUser(p: { of: User; close: () => void; again: () => void }): JSX.Element {
  const [role, setRole] = useState(p.of.role);
  const [password, setPassword] = useState("");
  const after = (): void => {
    p.close();
    p.again();
  };
  const { error, run } = useRun(after);
  const path = `/api/v1/users/${seg(p.of.name)}`;
  return (
    <Dialog title={t("users.change-title", { name: p.of.name })} close={p.close}>
      <RoleChoice value={role} set={setRole} />
      <label>
        {t("users.new-password")}
        <input
          type="password"
          value={password}
          autocomplete="new-password"
          onInput={(e) => {
            setPassword(e.currentTarget.value);
          }}
        />
      </label>
      <p class="hint">{t("users.change-hint")}</p>
      <Problem text={error} />
      <footer>
        <button type="button" class="secondary" onClick={p.close}>
          {t("act.leave")}
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            run(remove(path), t("users.removed", { name: p.of.name }));
          }}
        >
          {t("users.remove", { name: p.of.name })}
        </button>
        <button
          type="button"
          onClick={() => {
            run(post(path, password ? { role, password } : { role }), t("users.changed", { name: p.of.name }));
          }}
        >
          {t("users.change", { name: p.of.name })}
        </button>
      </footer>
    </Dialog>
  );
}

function Users(): JSX.Element {
  const users = useLoad<{ users: User[] }>("/api/v1/users");
  const [open, setOpen] = useState<User | null>(null);
  return (
    <section>
      <Show of={users}>
        {(d) => (
          <Scroll label={t("nav.users")}>
            <table>
              <thead>
                <tr>
                  {["name", "role", "last-login", "sessions", "locked", "act"].map((c) => (
                    <th scope="col" key={c}>
                      {word("user-col", c)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {d.users.map((u) => (
                  <tr key={u.name}>
                    <th scope="row">{u.name}</th>
                    <td>{word("role", u.role)}</td>
                    <td>{u.last_login ? <Ago at={u.last_login} /> : t("users.never")}</td>
                    <td class="num">{u.sessions}</td>
                    <td>{u.locked_until ? <When at={u.locked_until} /> : ""}</td>
                    <td>
                      <button
                        type="button"
                        class="small secondary"
                        onClick={() => {
                          setOpen(u);
                        }}
                      >
                        {t("users.change", { name: u.name })}
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </Show>
      <h2>{t("users.add-title")}</h2>
      <AddUser again={users.again} />
      {open && (
        <ChangeUser
          of={open}
          close={() => {
            setOpen(null);
          }}
          again={users.again}
        />
      )}
    </section>
  );
}

function AddToken(p: { again: () => void }): JSX.Element {
  const [role, setRole] = useState<GivenRole>("viewer");
  const [made, setMade] = useState<string | null>(null);
  const { error, run } = useRun(p.again);
  const add = (e: Event): void => {
    e.preventDefault();
    const f = new FormData(e.currentTarget as HTMLFormElement);
    const name = String(f.get("name"));
    const work = post<{ token: string }>("/api/v1/tokens", { name, role, days: String(f.get("days")) }).then((a) => {
      setMade(a.token);
    });
    run(work, t("tokens.made"));
  };
  return (
    <form class="inline-form" onSubmit={add}>
      <label>
        {t("tokens.name")}
        <input name="name" required maxLength={60} autocomplete="off" />
      </label>
      <label>
        {t("tokens.days")}
        <input name="days" type="number" min={1} max={3650} value={90} required />
      </label>
      <RoleChoice value={role} set={setRole} />
      <button type="submit">{t("tokens.make")}</button>
      <Problem text={error} />
      {made && (
        <p class="note tone-info" role="status">
          <span>{t("tokens.once")}</span> <code>{made}</code>
        </p>
      )}
    </form>
  );
}

function Tokens(): JSX.Element {
  const tokens = useLoad<{ tokens: Token[] }>("/api/v1/tokens");
  const { error, run } = useRun(tokens.again);
  return (
    <section>
      <h2>{t("tokens.title")}</h2>
      <Show of={tokens}>
        {(d) =>
          d.tokens.length === 0 ? (
            <Empty>{t("tokens.none")}</Empty>
          ) : (
            <ul class="plain">
              {d.tokens.map((x) => (
                <li key={x.id}>
                  <b>{x.name}</b> {word("role", x.role)} {t("tokens.expires")} <When at={x.expires} />{" "}
                  {x.expired && <strong>{t("tokens.expired")}</strong>}{" "}
                  <button
                    type="button"
                    class="small quiet-danger"
                    onClick={() => {
                      run(remove(`/api/v1/tokens/${seg(x.id)}`), t("tokens.removed", { name: x.name }));
                    }}
                  >
                    {t("tokens.remove", { name: x.name })}
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      <Problem text={error} />
      <AddToken again={tokens.again} />
    </section>
  );
}

export function UsersPage(): JSX.Element {
  return (
    <>
      <Heading title={t("nav.users")} />
      {may("admin") ? (
        <>
          <Users />
          <Tokens />
        </>
      ) : (
        <p class="note tone-warn">{t("act.needs-admin")}</p>
      )}
    </>
  );
}
