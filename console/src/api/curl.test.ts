// Requests as curl: a shell reads back exactly what the console sent.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { type CurlRequest, curlOf } from './curl.ts';

const origin = 'http://127.0.0.1:1';

/** The words that a POSIX shell makes of the command. */
function wordsOf(request: CurlRequest): string[] {
  const command = curlOf(request, origin).replace(/^curl/, `printf '%s\\0'`);
  const environment = { ...process.env, API_KEY: 'the key' };
  return execFileSync('sh', ['-c', command], { encoding: 'utf8', env: environment })
    .split('\0')
    .slice(0, -1);
}

describe('a command', () => {
  const key = ['-H', 'x-api-key: the key'];
  const json = ['-H', 'content-type: application/json'];
  test.each<[string, CurlRequest, string[]]>([
    ['reads', { path: '/v3/assets?size=1' }, ['-sS', `${origin}/v3/assets?size=1`, ...key]],
    [
      'deletes',
      { method: 'DELETE', path: '/v3/x' },
      ['-sS', '-X', 'DELETE', `${origin}/v3/x`, ...key],
    ],
    [
      'keeps quotes, dollars and line ends of a body',
      { method: 'POST', path: '/v3/x', body: { a: `it's $HOME \`id\`\n"` } },
      ['-sS', `${origin}/v3/x`, ...key, ...json, '-d', '{"a":"it\'s $HOME `id`\\n\\""}'],
    ],
    [
      "changes with the method that is not curl's own",
      { method: 'PUT', path: '/v3/x', body: [] },
      ['-sS', '-X', 'PUT', `${origin}/v3/x`, ...key, ...json, '-d', '[]'],
    ],
  ])('%s', (_title, request, words) => expect(wordsOf(request)).toEqual(words));
});
