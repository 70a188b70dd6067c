// Formats times for people. Pure: the caller passes the current time.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

// Written out, because creating an Intl formatter is too expensive while text streams.
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"] as const;

/** `Tuesday` */
export function weekday(at: string | number | Date): string {
  return weekdays[new Date(at).getDay()] ?? "";
}

/** `Tue` */
export function weekdayShort(at: string | number | Date): string {
  return weekday(at).slice(0, 3);
}

const pad = (n: number): string => String(n).padStart(2, "0");

/** `10:41:07` */
export function clock(at: string | number | Date): string {
  const date = new Date(at);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** `10:41` */
export function clockShort(at: string | number | Date): string {
  return clock(at).slice(0, 5);
}

function startOfDay(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}

function daysBetween(then: Date, now: Date): number {
  return Math.round((startOfDay(now) - startOfDay(then)) / day);
}

/** For narrow columns: `now`, `4m`, `3h`, `Tue`, `12 Nov`, `12 Nov 2024`. */
export function compact(at: string | number | Date, now: number): string {
  const then = new Date(at);
  const age = now - then.getTime();
  if (age < minute) return "now";
  if (age < hour) return `${Math.floor(age / minute)}m`;
  if (age < 12 * hour) return `${Math.floor(age / hour)}h`;
  const days = daysBetween(then, new Date(now));
  if (days === 0) return clockShort(then);
  if (days < 7) return weekdayShort(then);
  return shortDate(then, now);
}

/** In sentences: `4 min ago`, `3 h ago`, `Tuesday 14:07`, `12 Nov`. */
export function ago(at: string | number | Date, now: number): string {
  const then = new Date(at);
  const age = now - then.getTime();
  if (age < 5 * second) return "just now";
  if (age < minute) return `${Math.floor(age / second)} s ago`;
  if (age < hour) return `${Math.floor(age / minute)} min ago`;
  if (age < 12 * hour) return `${Math.floor(age / hour)} h ago`;
  const days = daysBetween(then, new Date(now));
  if (days === 0) return `today ${clockShort(then)}`;
  if (days === 1) return `yesterday ${clockShort(then)}`;
  if (days < 7) return `${weekday(then)} ${clockShort(then)}`;
  return shortDate(then, now);
}

function shortDate(then: Date, now: number): string {
  const sameYear = then.getFullYear() === new Date(now).getFullYear();
  const day = `${then.getDate()} ${months[then.getMonth()]?.slice(0, 3) ?? ""}`;
  return sameYear ? day : `${day} ${then.getFullYear()}`;
}

/** `41 s`, `2 min 14 s`, `3 h 5 min`, `2 d 4 h` */
export function duration(ms: number): string {
  const left = Math.max(0, ms);
  if (left < minute) return `${Math.floor(left / second)} s`;
  if (left < hour) return `${Math.floor(left / minute)} min ${Math.floor((left % minute) / second)} s`;
  if (left < day) return `${Math.floor(left / hour)} h ${Math.floor((left % hour) / minute)} min`;
  return `${Math.floor(left / day)} d ${Math.floor((left % day) / hour)} h`;
}

/** For chips: `41s`, `2m 14s`, `3h 5m` */
export function durationShort(ms: number): string {
  return duration(ms).replace(/ (s|min|h|d)/g, (_, unit: string) => (unit === "min" ? "m" : unit));
}

/** Complete, for tooltips and screen readers: `Tuesday, 12 November 2026, 14:07:31` */
export function whole(at: string | number | Date): string {
  const date = new Date(at);
  return `${weekday(date)}, ${date.getDate()} ${months[date.getMonth()] ?? ""} ${date.getFullYear()}, ${clock(date)}`;
}
