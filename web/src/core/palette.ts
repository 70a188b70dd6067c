// The palette's matches for a few letters. A match contains every letter in order; letters at the
// start of words score higher, so that "fca" finds "Fix cursor and add tests".

export interface Choice {
  id: string;
  label: string;
  detail: string;
  /** Additional search words. */
  more?: string;
}

/** Higher is better; 0: no match. */
export function score(text: string, wanted: string): number {
  if (wanted === "") return 1;
  const low = text.toLowerCase();
  const plain = low.indexOf(wanted);
  if (plain >= 0) return 1000 - plain + (plain === 0 || /\W/.test(low.charAt(plain - 1)) ? 500 : 0);
  let at = 0;
  let points = 0;
  for (const letter of wanted.replace(/\s+/g, "")) {
    const found = low.indexOf(letter, at);
    if (found < 0) return 0;
    points += found === 0 || /\W/.test(low.charAt(found - 1)) ? 12 : found === at ? 6 : 1;
    at = found + 1;
  }
  return points;
}

export function choose<T extends Choice>(choices: T[], wanted: string, most: number): T[] {
  const text = wanted.trim().toLowerCase();
  return choices
    .map((choice) => ({ choice, points: Math.max(score(choice.label, text), score(`${choice.detail} ${choice.more ?? ""}`, text) / 4) }))
    .filter(({ points }) => points >= (text ? Math.max(1, text.length * 2) : 1))
    .sort((a, b) => b.points - a.points)
    .slice(0, most)
    .map(({ choice }) => choice);
}
