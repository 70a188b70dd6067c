// Names that the page makes itself. `crypto.randomUUID` does not exist over plain http to another machine,
// `getRandomValues` does everywhere.

const letters = "0123456789abcdefghjkmnpqrstvwxyz";

/** 26 random letters: 130 bits. */
export function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(26));
  let out = "";
  for (const byte of bytes) out += letters.charAt(byte & 31);
  return out;
}

/** The key under which one POST is done once, however often it is sent. */
export function idempotencyKey(): string {
  return `web-${randomName()}`;
}

/** The end of an id, as people compare ids by it. */
export function shortId(id: string): string {
  return id.slice(-6);
}
