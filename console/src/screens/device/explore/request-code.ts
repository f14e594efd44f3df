// Request code: a request of the console as a program in the language of the reader.
import { type CurlRequest, curlOf } from '../../../api/curl.ts';

export const requestLanguages = ['curl', 'JavaScript', 'Python'] as const;
export type RequestLanguage = (typeof requestLanguages)[number];

/** The key is a variable of the environment, because a secret does not belong on the clipboard. */
export function requestCode(
  request: CurlRequest,
  origin: string,
  language: RequestLanguage,
): string {
  if (language === 'curl') return curlOf(request, origin);
  const address = JSON.stringify(origin + request.path);
  const body = JSON.stringify(request.body ?? null, null, 2);
  if (language === 'JavaScript')
    return `const answer = await fetch(${address}, {
  method: 'POST',
  headers: { 'x-api-key': process.env.API_KEY, 'content-type': 'application/json' },
  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),
});
if (!answer.ok) throw new Error(await answer.text());
console.log(await answer.json());`;
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${address},
    data=json.dumps(${pythonOf(request.body).replaceAll('\n', '\n    ')}).encode(),
    headers={"x-api-key": os.environ["API_KEY"], "content-type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))`;
}

/** A literal of Python, in which three words of JSON have other names. */
function pythonOf(value: unknown, indent = ''): string {
  const inner = `${indent}  `;
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${pythonOf(item, inner)}`);
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${pythonOf(member, inner)}`,
  );
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}
