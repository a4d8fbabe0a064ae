// The door: nobody yet, the first admin, a wrong password, a session that ends under an open page, users.
import { Bed, PASSWORD } from "./bed.mjs";

async function first(bed, eyes) {
  const page = await eyes.window(bed.base);
  await page.goto("/");
  await eyes.loaded(page);
  await eyes.look(page, "anonymous-en");
  const link = /(\/setup#[0-9a-f]+)/.exec(bed.daemon.words)?.[1];
  if (!link) throw new Error("the daemon's log shows no link");
  await page.goto(link);
  await eyes.look(page, "setup-en");
  await page.locator("input[name=name]").fill("root");
  await page.locator("input[name=password]").fill(PASSWORD);
  await page.locator("main form button[type=submit]").click();
  await page.locator(".who", { hasText: "root" }).waitFor();
  await page.context().close();
}

async function wrong(bed, eyes) {
  const page = await eyes.window(bed.base, { lang: "zh" });
  await page.goto("/audit?q=START");
  await page.locator("input[name=name]").fill("vera");
  await page.locator("input[name=password]").fill("not the password");
  await eyes.look(page, "login-zh");
  await page.locator("main form button[type=submit]").click();
  await page.locator("[role=alert] .note").waitFor();
  await eyes.look(page, "login-wrong-zh");
  await page.context().close();
}

async function ends(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "vera", "/audit?q=START");
  await page.locator(".record").first().waitFor();
  // A change of the role ends all sessions of that person.
  bed.cli("user", "role", "vera", "--role", "viewer", "--data", bed.data);
  await page.locator("input[name=password]").waitFor({ timeout: 60_000 });
  await eyes.look(page, "session-ended-en");
  await page.locator("input[name=name]").fill("vera");
  await page.locator("input[name=password]").fill(PASSWORD);
  await page.locator("main form button[type=submit]").click();
  await page.waitForURL(/\/audit\?q=START/);
  await page.context().close();
}

async function people(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "root", "/users");
  const form = page.locator("form.inline-form").first();
  await form.locator("input[name=name]").fill("nina");
  await form.locator("input[name=password]").fill(PASSWORD);
  await form.locator("button[type=submit]").click();
  await page.locator("th", { hasText: "nina" }).waitFor();
  await page.getByRole("button", { name: "Change nina" }).click();
  await eyes.look(page, "users-change-en", false);
  await page.getByRole("button", { name: "Remove nina" }).click();
  await page.locator("th", { hasText: "nina" }).waitFor({ state: "detached" });
  await page.context().close();
}

export async function tests({ check, eyes, program }) {
  const bed = await new Bed(program).start({ warm: false, people: false });
  try {
    await check("nobody yet: reading is open, the link makes the first admin", () => first(bed, eyes));
    await bed.addPeople();
    await check("a wrong password is told without saying which part", () => wrong(bed, eyes));
    await check("session expiry under an open page, and back", () => ends(bed, eyes));
    await check("an admin adds and removes a user", () => people(bed, eyes));
  } finally {
    await bed.stop();
  }
}
