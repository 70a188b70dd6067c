// A list whose order does not change under a finger: existing items keep their place, new ones are
// appended.

export function steady<T>(before: string[], now: T[], keyOf: (item: T) => string): T[] {
  const place = new Map(before.map((key, i) => [key, i]));
  return now
    .map((item, i) => ({ item, at: place.get(keyOf(item)) ?? before.length + i }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
