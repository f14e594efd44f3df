// SQL literals of ClickHouse, because 18.16 has no parameters over HTTP.

/** As a literal. */
export function quoted(text: string): string {
  return `'${text.replaceAll(/[\\'\0\b\f\n\r\t]/g, escaped)}'`;
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function escaped(character: string): string {
  return escapes[character] ?? character;
}

/** A list for `in`, which must not be empty. */
export function listOf(texts: readonly string[]): string {
  return `(${texts.map(quoted).join(',')})`;
}

export function arrayOf(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(',')}]`;
}

/** A whole number as Int64; times that are out of its range become its bounds. */
export function int64(value: number): string {
  if (value >= 2 ** 63) return 'toInt64(9223372036854775807)';
  if (value < -(2 ** 53)) return 'toInt64(-9223372036854775807)';
  return `toInt64(${Math.ceil(value)})`;
}
