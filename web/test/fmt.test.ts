import { beforeAll, describe, expect, it } from "vitest";
import { bytes, digits, exact, percent, quantity, relative, signed } from "../src/fmt/number";
import { clock, countdown, duration, full, local, secondsBetween, utc, zone } from "../src/fmt/time";

beforeAll(() => {
  process.env.TZ = "Asia/Shanghai";
});

const EN = { days: "d", hours: "h", minutes: "min", seconds: "s" };

describe("numbers", () => {
  it("have three significant digits and keep whole thousands", () => {
    expect(digits(46.849)).toBe("46.8");
    expect(digits(0.012345)).toBe("0.0123");
    expect(digits(9.996)).toBe("10");
    expect(digits(21738.4)).toBe("21,738");
    expect(digits(0)).toBe("0");
    expect(digits(-3.14159)).toBe("\u22123.14");
    expect(digits(NaN)).toBe("?");
    expect(digits(1.5e18)).toBe("1.50e+18");
  });

  it("carry their unit", () => {
    expect(quantity(46.8, "ms")).toBe("46.8 ms");
    expect(quantity(0.785, "ratio")).toBe("78.5 %");
    expect(quantity(12, "%")).toBe("12 %");
    expect(quantity(21700, "/s")).toBe("21,700/s");
    expect(quantity(5.5e9, "B")).toBe("5.5 GB");
    expect(quantity(null, "ms")).toBe("?");
    expect(quantity(250, "")).toBe("250");
    expect(quantity(61.2, "C")).toBe("61.2 \u00b0C");
  });

  it("of knobs are never rounded", () => {
    expect(exact("1234.5678", "ms")).toBe("1234.5678 ms");
    expect(exact("64", "")).toBe("64");
  });

  it("compare as shares of the older one", () => {
    expect(relative(46.8, 38.1)).toBeCloseTo(0.2283, 4);
    expect(relative(1, 0)).toBeNull();
    expect(relative(null, 2)).toBeNull();
    expect(signed(-0.487)).toBe("\u221248.7 %");
    expect(signed(0.03)).toBe("+3 %");
    expect(signed(0)).toBe("0 %");
    expect(percent(0.228)).toBe("22.8 %");
  });

  it("of bytes step by thousands", () => {
    expect(bytes(999)).toBe("999 B");
    expect(bytes(131072)).toBe("131 KB");
    expect(bytes(0)).toBe("0 B");
  });
});

describe("times", () => {
  const at = "2026-05-12T10:02:30.000000Z";
  it("are local with the zone, UTC on hover", () => {
    expect(full(at)).toBe("2026-05-12 18:02:30 UTC+8");
    expect(utc(at)).toBe("2026-05-12 10:02:30 UTC");
    expect(zone(new Date(at))).toBe("UTC+8");
    expect(clock(new Date(at))).toBe("18:02:30");
  });

  it("leave the day out today", () => {
    expect(local(at, new Date("2026-05-12T12:00:00Z"))).toBe("18:02:30");
    expect(local(at, new Date("2026-05-13T12:00:00Z"))).toBe("2026-05-12 18:02:30");
    expect(local(null)).toBe("\u2013");
  });

  it("as durations read 6:40 or 2 h 10 min", () => {
    expect(duration(400, EN)).toBe("6:40");
    expect(duration(7800, EN)).toBe("2 h 10 min");
    expect(duration(40, EN)).toBe("40 s");
    expect(duration(600, EN)).toBe("10 min");
    expect(duration(7200, EN)).toBe("2 h");
    expect(duration(97200, EN)).toBe("1 d 3 h");
    expect(duration(-3, EN)).toBe("0 s");
    expect(countdown(400)).toBe("6:40");
    expect(countdown(3725)).toBe("1:02:05");
  });

  it("subtract, or say that they cannot", () => {
    expect(secondsBetween(at, "2026-05-12T10:07:30Z")).toBe(300);
    expect(secondsBetween(null, at)).toBeNull();
    expect(secondsBetween("nonsense", at)).toBeNull();
  });
});
