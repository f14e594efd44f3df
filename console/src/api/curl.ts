// Requests as curl commands: what the console does, a terminal can do too.

export interface CurlRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path with its query, such as `/v3/assets?size=10`. */
  readonly path: string;
  readonly body?: unknown;
}

/**
 * Returns a command for a POSIX shell. The key is a variable of the shell, because a secret does
 * not belong on the clipboard.
 */
export function curlOf({ method = 'GET', path, body }: CurlRequest, origin: string): string {
  const words = ['curl', '-sS'];
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) words.push('-X', method);
  words.push(quoted(origin + path), '-H', '"x-api-key: $API_KEY"');
  if (body !== undefined)
    words.push('-H', "'content-type: application/json'", '-d', quoted(JSON.stringify(body)));
  return words.join(' ');
}

/** Single quotes keep every character but themselves. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
