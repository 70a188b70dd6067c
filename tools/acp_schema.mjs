// The protocol's published JSON schema, and what is wrong with a message by it.
import { readFileSync } from "node:fs";
import { join } from "node:path";

// `from` is what installed() gave: a folder with the SDK and ajv.
export class Schema {
  constructor(name, { cache, require }) {
    const Ajv = require("ajv/dist/2020").default;
    const [version, unstable] = name.split(".");
    const file = unstable ? "schema.unstable.json" : "schema.json";
    const path = join(cache, "node_modules/@agentclientprotocol/sdk/schema", version, file);
    this.document = JSON.parse(readFileSync(path, "utf8"));
    this.ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
    this.ajv.addSchema({ ...this.document, $id: name });
    this.name = name;
  }

  // The definition of a method's request or notification, or of its answer.
  definition(method, isAnswer) {
    const suffix = isAnswer ? /Response$/ : /(Request|Notification)$/;
    return Object.entries(this.document.$defs).find(
      ([name, schema]) => schema["x-method"] === method && suffix.test(name),
    )?.[0];
  }

  errors(definition, value) {
    const validate = this.ajv.getSchema(`${this.name}#/$defs/${definition}`);
    return validate(value) ? [] : validate.errors;
  }

  // The update variants that it names.
  variants() {
    const { oneOf, anyOf } = this.document.$defs.SessionUpdate;
    return (oneOf ?? anyOf).map((one) => one.properties?.sessionUpdate?.const).filter(Boolean);
  }
}

// What is wrong with a sample; empty when nothing is.
export function check(sample, schema) {
  const { message, answers } = sample;
  if (message.jsonrpc !== "2.0") return "no jsonrpc";
  if (message.error) return schema.errors("Error", message.error);
  const method = message.method ?? answers;
  const definition = schema.definition(method, !message.method);
  if (!definition) return `the schema has no ${method}`;
  return schema.errors(definition, message.method ? message.params : message.result);
}
