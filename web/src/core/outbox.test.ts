import { describe, expect, it } from "vitest";
import { Outbox, type Sending } from "./outbox";
import { emptyMessage } from "./rows";
import type { Session } from "./types";

const sending = (key: string): Sending => ({ key, text: key, when: "auto", at: 1, state: "sending", message_id: "", error: "" });

function stage(kept: Sending[] = []) {
  const store = { kept, read: () => store.kept, write: (sends: Sending[]) => void (store.kept = sends) };
  return { store, outbox: new Outbox(store) };
}
const row = (message_id: string) => ({ ...emptyMessage(), role: "user" as const, message_id });

describe("messages on their way", () => {
  it("survive a reload until the daemon has them", () => {
    const { store, outbox } = stage();
    outbox.add(sending("a"));
    expect(new Outbox(store).unsent().map((one) => one.key)).toEqual(["a"]);
    outbox.change("a", { state: "accepted", message_id: "msg_1" });
    expect(new Outbox(store).unsent()).toEqual([]);
  });

  it("are replaced by the row that carries their id, and by no other", () => {
    const { outbox } = stage([{ ...sending("a"), state: "accepted", message_id: "msg_1" }]);
    outbox.settle([row("msg_2")], null);
    expect(outbox.all()).toHaveLength(1);
    outbox.settle([row("msg_1")], null);
    expect(outbox.all()).toHaveLength(0);
  });

  it("are replaced by the queued prompt as well", () => {
    const { outbox } = stage([{ ...sending("a"), state: "accepted", message_id: "msg_1" }]);
    outbox.settle([], { queue: [{ position: 1, message_id: "msg_1" }] } as unknown as Session);
    expect(outbox.all()).toHaveLength(0);
  });

  it("are known by their key where the record comes before the answer, or the answer is lost", () => {
    const { outbox } = stage();
    outbox.add(sending("web-1"));
    outbox.saw({ v: 1, seq: 1, ts: "", kind: "message.user", key: "browser:br_1/web-1", message_id: "msg_1" });
    outbox.settle([row("msg_1")], null);
    expect(outbox.all()).toHaveLength(0);
  });
});
