// Sessions by task, as the side bar shows them. A task's own copy of its sessions may be out of
// date, so session data comes only from the list of sessions.
import type { Brief, Task } from "./types";

export interface Group {
  id: string;
  title: string;
  sessions: Brief[];
}

/** Tasks with their sessions, most recently changed first; sessions without a task at the end. */
export function groupsOf(tasks: Task[], sessions: Brief[]): Group[] {
  const groups = new Map<string, Group>(tasks.map((task) => [task.id, { id: task.id, title: task.title, sessions: [] }]));
  const rest: Group = { id: "", title: "Without a task", sessions: [] };
  for (const session of sessions) (groups.get(session.task_id ?? "") ?? rest).sessions.push(session);
  const created = new Map(tasks.map((task) => [task.id, task.created]));
  const age = (group: Group): string => group.sessions[0]?.updated ?? created.get(group.id) ?? "";
  const sorted = [...groups.values()].sort((a, b) => (age(a) < age(b) ? 1 : -1));
  return rest.sessions.length > 0 ? [...sorted, rest] : sorted;
}
