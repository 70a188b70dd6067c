// Ids that the page makes. Over plain http to another machine, `crypto.randomUUID` is missing;
// `getRandomValues` is always available.

const letters = "0123456789abcdefghjkmnpqrstvwxyz";

/** 26 random letters: 130 bits. */
export function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(26));
  let out = "";
  for (const byte of bytes) out += letters.charAt(byte & 31);
  return out;
}

/** The idempotency key of one POST: it takes effect once, however often it is sent. */
export function idempotencyKey(): string {
  return `web-${randomName()}`;
}

/** The end of an id, which people use to compare ids. */
export function shortId(id: string): string {
  return id.slice(-6);
}
