// The audit trail on the page: who did what, newest first, including failed actions.
import assert from "node:assert/strict";

export default function (suite) {
  suite.test("audit_trail_is_listed_newest_first_and_says_what_failed", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "Audited" });
    await daemon.api("POST", "/api/tokens", { name: "ci", scopes: ["observe"] });
    await daemon.api("GET", `/api/sessions/${session.id}/export`).catch(() => undefined);
    await daemon.api("DELETE", "/api/tokens/tok_none").catch(() => undefined);
    const one = await person();
    await one.enter("/settings/audit");
    const entries = one.page.locator("section ol > li");
    await entries.first().waitFor();
    await one.page.getByText('"ci", scope observe').waitFor();
    await one.page.getByText("failed: not found").waitFor();
    const texts = await entries.allTextContents();
    const at = (words) => texts.findIndex((text) => text.includes(words));
    assert.ok(at("Browser signed in") >= 0 && at("Browser signed in") < at("Token made"), texts.join("\n"));
    assert.ok(at("Token made") < at("Daemon started"), texts.join("\n"));
    await one.shot("audit");
    await daemon.api("POST", "/api/tokens", { name: "later", scopes: ["observe"] });
    await one.page.getByRole("button", { name: "Refresh" }).click();
    await one.page.getByText('"later", scope observe').waitFor();
  });
}
