// A list whose order never changes under a finger: what was there keeps its place, what is new comes behind it.

export function steady<T>(before: string[], now: T[], keyOf: (item: T) => string): T[] {
  const place = new Map(before.map((key, i) => [key, i]));
  return now
    .map((item, i) => ({ item, at: place.get(keyOf(item)) ?? before.length + i }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
