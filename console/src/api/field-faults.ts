// Field faults: what the platform said of single members of a body, by their path.

/** Reasons by path; the rest of the message, if any, is about the body as a whole. */
export interface FieldFaults {
  readonly byPath: ReadonlyMap<string, string>;
  readonly rest: string | undefined;
}

const noFaults: FieldFaults = { byPath: new Map(), rest: undefined };

/** Reads messages such as `body webhookProperties.uri: must be an http or https URL`. */
export function faultsOf(error: Error | null): FieldFaults {
  if (error === null) return noFaults;
  const byPath = new Map<string, string>();
  const rest: string[] = [];
  for (const part of error.message.split(/; (?=body )/)) {
    const named = /^body ([\w$.[\]-]+):? (.+)$/s.exec(part);
    if (named?.[1] === undefined || named[2] === undefined) rest.push(part);
    else if (!byPath.has(pathOf(named[1]))) byPath.set(pathOf(named[1]), named[2]);
  }
  return { byPath, rest: rest.length === 0 ? undefined : rest.join('; ') };
}

/** The message without the reasons in `marks`, as fields show them; undefined if nothing is left. */
export function unmarkedIn(error: Error, marks: readonly string[]): string | undefined {
  const { byPath, rest } = faultsOf(error);
  const isMarked = (reason: string) =>
    marks.some((mark) => mark === reason || mark.endsWith(`: ${reason}`));
  const left = [...byPath].filter(([, reason]) => !isMarked(reason));
  if (left.length === byPath.size) return error.message;
  const said = left.map(([path, reason]) => `body ${path}: ${reason}`);
  const parts = rest === undefined ? said : [...said, rest];
  return parts.length === 0 ? undefined : parts.join('; ');
}

/** `columns[0].path` and `columns.0.path` are the same place. */
function pathOf(written: string): string {
  return written.replaceAll(/\[(\w+)\]/g, '.$1');
}

/** The reason at a path or below it. */
export function faultAt({ byPath }: FieldFaults, path: string): string | undefined {
  const exact = byPath.get(path);
  if (exact !== undefined) return exact;
  for (const [place, reason] of byPath)
    if (place.startsWith(`${path}.`)) return `${place.slice(path.length + 1)}: ${reason}`;
  return undefined;
}
