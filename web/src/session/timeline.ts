// The axis of the timeline: time, with idle stretches collapsed to a fixed width. Pure. Each
// position maps to a record and back, within the bucket that holds it.
import type { Density, MarkKind } from "../core/types";
import { duration } from "../core/time";

export interface Bar {
  readonly x: number;
  readonly width: number;
  readonly level: number; // 0 to 1
  readonly first: number; // seq
  readonly last: number;
}
export interface Gap {
  readonly x: number;
  readonly width: number;
  readonly ms: number;
  readonly label: string; // "3 h 5 min idle"
  readonly key: string;
}
export interface AxisMark {
  readonly x: number;
  readonly seq: number;
  readonly kind: MarkKind;
}
export interface Axis {
  readonly bars: readonly Bar[];
  readonly gaps: readonly Gap[];
  readonly marks: readonly AxisMark[];
  readonly width: number;
}

const gapWidth = 16;
const gapShare = 0.04; // share of all buckets; a longer empty run is collapsed as idle time
const gapFloor = 20_000; // ms; a shorter pause is not a gap

type Bucket = Density["buckets"][number];
interface Stretch {
  readonly busy: boolean;
  readonly buckets: readonly Bucket[];
}

function stretchesOf(buckets: readonly Bucket[], step: number, isOpen: (key: string) => boolean): Stretch[] {
  const least = Math.max(3, Math.ceil(buckets.length * gapShare), Math.ceil(gapFloor / Math.max(step, 1)));
  const out: { busy: boolean; buckets: Bucket[] }[] = [];
  const put = (busy: boolean, part: Bucket[]): void => {
    const last = out.at(-1);
    if (last?.busy && busy) last.buckets.push(...part);
    else out.push({ busy, buckets: [...part] });
  };
  for (let i = 0; i < buckets.length; ) {
    let end = i + 1;
    const empty = buckets[i]?.records === 0;
    while (end < buckets.length && (buckets[end]?.records === 0) === empty) end += 1;
    const part = buckets.slice(i, end);
    const collapses = empty && part.length >= least && i > 0 && !isOpen(part[0]?.from ?? "");
    put(!collapses, part);
    i = end;
  }
  return out;
}

export function axisOf(density: Density, width: number, isOpen: (key: string) => boolean = () => false): Axis {
  // Ends the axis at the last record: in a session of a few moments, trailing buckets are empty.
  const buckets = density.buckets.slice(0, density.buckets.findLastIndex((bucket) => bucket.records > 0) + 1);
  const first = buckets[0];
  const second = buckets[1];
  const step = first && second ? Date.parse(second.from) - Date.parse(first.from) : 0;
  const stretches = stretchesOf(buckets, step, isOpen);
  const gapsWide = stretches.filter((one) => !one.busy).length * gapWidth;
  const busyCount = stretches.reduce((sum, one) => sum + (one.busy ? one.buckets.length : 0), 0);
  const each = busyCount ? Math.max(width - gapsWide, 0) / busyCount : 0;
  const most = Math.max(1, ...buckets.map((bucket) => bucket.records));
  const bars: Bar[] = [];
  const gaps: Gap[] = [];
  let x = 0;
  for (const stretch of stretches) {
    if (!stretch.busy) {
      const ms = step * stretch.buckets.length;
      gaps.push({ x, width: gapWidth, ms, label: `${duration(ms)} idle`, key: stretch.buckets[0]?.from ?? "" });
      x += gapWidth;
      continue;
    }
    for (const bucket of stretch.buckets) {
      // Square roots, so that a burst does not flatten everything else.
      if (bucket.records > 0) bars.push({ x, width: each, level: Math.sqrt(bucket.records / most), first: bucket.first_seq, last: bucket.last_seq });
      x += each;
    }
  }
  const axis = { bars, gaps, marks: [], width: x };
  return { ...axis, marks: density.marks.map((mark) => ({ x: xOf(axis, mark.seq), seq: mark.seq, kind: mark.kind })) };
}

export function xOf(axis: Pick<Axis, "bars" | "width">, seq: number): number {
  let before: Bar | null = null;
  for (const bar of axis.bars) {
    if (seq < bar.first) break;
    before = bar;
    if (seq <= bar.last) return bar.x + (bar.width * (seq - bar.first + 1)) / (bar.last - bar.first + 1);
  }
  return before ? before.x + before.width : 0;
}

export function seqAt(axis: Axis, x: number): number {
  let found: Bar | undefined;
  for (const bar of axis.bars) {
    if (bar.x > x) break;
    found = bar;
  }
  if (!found) return axis.bars[0]?.first ?? 0;
  const part = found.width > 0 ? Math.min(Math.max((x - found.x) / found.width, 0), 1) : 1;
  return Math.round(found.first + (found.last - found.first) * part);
}

// The turn boundaries around a record's number, for stepping back and forward.
export function turnBefore(density: Density, seq: number): number {
  const starts = density.marks.filter((mark) => mark.kind === "prompt").map((mark) => mark.seq);
  const ends = starts.map((start) => start - 1).filter((end) => end >= 1 && end < seq);
  return ends.at(-1) ?? 1;
}
export function turnAfter(density: Density, seq: number): number | null {
  const starts = density.marks.filter((mark) => mark.kind === "prompt").map((mark) => mark.seq);
  return starts.map((start) => start - 1).find((end) => end > seq) ?? null;
}
