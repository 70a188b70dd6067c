import { describe, expect, it } from "vitest";
import { chordOf, isLetter, keyCommands, keyNames, keysShown, lookUp, mayHave, normalKeys, type KeyName, type Pressed } from "./keymap";

const press = (key: string, with_: Partial<Pressed> = {}): Pressed => ({
  key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...with_,
});
const bound = (isMac: boolean): Map<string, KeyName> =>
  new Map(keyNames.map((name) => [normalKeys(keyCommands[name].keys, isMac), name]));

describe("keys", () => {
  it("are all different", () => {
    expect(bound(true).size).toBe(keyNames.length);
    expect(bound(false).size).toBe(keyNames.length);
  });

  it("know a Mac's modifier from others'", () => {
    expect(chordOf(press("k", { metaKey: true }), true)).toBe("mod+k");
    expect(chordOf(press("k", { ctrlKey: true }), false)).toBe("mod+k");
    expect(chordOf(press("O", { ctrlKey: true, shiftKey: true }), false)).toBe("mod+shift+o");
    expect(chordOf(press("J", { shiftKey: true }), false)).toBe("J");
    expect(keysShown("mod+shift+o", true)).toBe("⌘⇧O");
    expect(keysShown("mod+k", false)).toBe("Ctrl K");
  });

  it("never answer a question by what somebody may type", () => {
    for (const name of keyNames.filter((one) => keyCommands[one].group === "Answering")) {
      expect(mayHave(name, keyCommands[name].keys)).toBe(true);
      for (const keys of ["Y", "y", "Enter", "shift+y", "g y", " ", "mod+k y"]) expect(mayHave(name, keys)).toBe(false);
      expect(mayHave(name, "alt+y")).toBe(true);
    }
    expect(mayHave("next", "x")).toBe(true);
  });

  it("come one after the other", () => {
    expect(lookUp(["g"], bound(false))).toBe("begins");
    expect(lookUp(["g", "i"], bound(false))).toBe("go.inbox");
    expect(lookUp(["g", "x"], bound(false))).toBe(null);
  });

  it("without a modifier are letters, which can be turned off", () => {
    expect(isLetter("g i")).toBe(true);
    expect(isLetter("?")).toBe(true);
    expect(isLetter("mod+k")).toBe(false);
    expect(isLetter("End")).toBe(false);
  });
});
