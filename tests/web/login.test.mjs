// Signing in: once by a launch token, and afterwards by the key that the browser keeps.
import assert from "node:assert/strict";

export default function (suite) {
  suite.test("login_a_launch_address_lets_in_once_and_leaves_the_address_clean", async ({ daemon, person }) => {
    await daemon.session({ agent: "test", title: "A session to be seen" });
    const one = await person();
    const url = await daemon.launchUrl("/");
    await one.page.goto(url);
    await one.page.getByText("A session to be seen").first().waitFor();
    assert.ok(!one.page.url().includes("launch"), one.page.url());
    await one.page.reload();
    await one.page.getByText("A session to be seen").first().waitFor();
    await one.shot("inbox");

    const other = await person();
    other.expect(/status of 401/);
    await other.page.goto(url);
    await other.page.getByText(/perdure open|launch|log ?in/i).first().waitFor();
    assert.equal(await other.page.getByText("A session to be seen").count(), 0);
    await other.shot("logged-out");
  });

  suite.test("U8_U16_list_shows_every_session_also_after_a_restart", async ({ daemon, person }) => {
    const names = ["First of the list", "Second of the list", "Third of the list"];
    for (const title of names) await daemon.session({ agent: "test", title });
    await daemon.restart();
    const one = await person();
    await one.enter("/");
    for (const title of names) await one.page.getByText(title).first().waitFor();
  });
}
