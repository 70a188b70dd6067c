// Rows from far back in the log, not connected to the followed rows. They grow in both directions
// until they meet those.
import type { Row, RowsPage, Seq } from "./types";

const lastSeq = (rows: Row[]): Seq => rows[rows.length - 1]?.seq ?? 0;

export class FarRows {
  private rows: Row[];
  hasOlder: boolean;
  /** There is a gap between these rows and the followed ones. */
  hasNewer: boolean;

  /** `first`: the first of the followed rows. */
  constructor(page: RowsPage, first: Seq) {
    this.rows = page.rows;
    this.hasOlder = page.has_older;
    this.hasNewer = page.has_newer && lastSeq(page.rows) < first;
  }

  get first(): Seq {
    return this.rows[0]?.seq ?? 1;
  }
  get last(): Seq {
    return lastSeq(this.rows);
  }

  addOlder(page: RowsPage): void {
    this.hasOlder = page.has_older;
    this.rows = [...page.rows, ...this.rows];
  }

  /** Adds a page around the last row. */
  addNewer(page: RowsPage, first: Seq): void {
    const known = new Set(this.rows.map((row) => row.id));
    const fresh = page.rows.filter((row) => !known.has(row.id) && row.seq >= this.last);
    this.rows = [...this.rows, ...fresh];
    this.hasNewer = page.has_newer && this.last < first;
  }

  /** The rows to show: these alone, or joined with the followed rows after they meet. */
  with(followed: Row[]): Row[] {
    const first = followed[0]?.seq ?? Infinity;
    return this.hasNewer ? this.rows : [...this.rows.filter((row) => row.seq < first), ...followed];
  }
}
