// Values of several lines: lists, maps and phone numbers as a person types them.

type Kind = 'lines' | 'pairs' | 'phones';

interface Phone {
  readonly prefix: string;
  readonly phone: string;
}

/** The value with one element per line. */
export function toLines(kind: Kind, value: unknown): string {
  if (kind === 'pairs')
    return Object.entries((value ?? {}) as Readonly<Record<string, string>>)
      .map(([name, content]) => `${name}: ${content}`)
      .join('\n');
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [];
  if (kind === 'phones')
    return (list as readonly Phone[]).map(({ prefix, phone }) => `${prefix} ${phone}`).join('\n');
  return list.join('\n');
}

/** The value of lines; empty ones are skipped, and one without a colon is only a name. */
export function fromLines(kind: Kind, text: string): unknown {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (kind === 'lines') return lines;
  if (kind === 'phones') return lines.map(phoneOf);
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':');
      return [name.trim(), rest.join(':').trim()];
    }),
  );
}

function phoneOf(line: string): Phone {
  const [prefix = '', ...rest] = line.split(/\s+/);
  return { prefix, phone: rest.join('') };
}
