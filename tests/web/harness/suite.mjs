// A test file's suite: tests by name, its own daemon, started with the first test, and people whose
// pages close when their test ends. Names are words joined by underscores and may carry ids.
import { Daemon } from "./daemon.mjs";
import { Person } from "./browser.mjs";

export class Suite {
  constructor(file) {
    this.file = file;
    this.tests = [];
    this.setup = {};
    this.daemon = null;
  }

  // Configures the daemon; call it before the first test.
  configure(setup) {
    this.setup = setup;
  }

  test(name, run) {
    if (!/^\w+$/.test(name)) throw new Error(`${this.file}: '${name}' is no name of a test`);
    this.tests.push({ name, run });
  }

  async run(one, browser, ms) {
    this.daemon ??= await Daemon.start(this.setup);
    const people = [];
    const world = {
      daemon: this.daemon,
      browser,
      person: async (how) => {
        const person = await Person.sitDown(browser, this.daemon, how);
        people.push(person);
        return person;
      },
    };
    try {
      await withDeadline(one.run(world), one.name, ms);
      const troubles = people.flatMap((person) => person.taken());
      if (troubles.length > 0) throw new Error(`the page had trouble:\n  ${troubles.slice(0, 8).join("\n  ")}`);
    } catch (error) {
      for (const [index, person] of people.entries()) {
        await person.shot(`failed.${one.name}.${index + 1}`).catch(() => {});
        const words = await person.words().catch(() => "nothing that could be read");
        error.stack += `\n  page ${index + 1} said: ${words}`;
      }
      const troubles = people.flatMap((person) => person.taken());
      if (troubles.length > 0) error.stack += `\n  besides: ${troubles.slice(0, 8).join("\n  ")}`;
      throw error;
    } finally {
      // A test past its deadline finds its pages closed, and so ends too.
      await Promise.all(people.map((person) => person.leave().catch(() => {})));
    }
  }

  async end() {
    const { daemon } = this;
    this.daemon = null;
    await daemon?.stop();
  }
}

function withDeadline(promise, name, ms) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${name} did not end within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
