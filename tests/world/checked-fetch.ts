// `fetch` for tests: every answer is compared with the OpenAPI document that the platform publishes.
import { answersAgainst, type CheckAnswer } from './published-document.ts';
import { recordExample } from './recorded-examples.ts';

export interface Answered {
  readonly status: number;
  // Tests say what they expect of a body; its type would say it twice.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly headers: Headers;
}

// The document is the same for every world of a test file.
let checkAnswer: Promise<CheckAnswer> | undefined;

/** A request with exactly these headers; a body that is not a string is sent as JSON. */
export async function checkedFetch(
  base: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answered> {
  const sent =
    body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const answer = await fetch(base + path, { method, headers, ...sent });
  const text = await answer.text();
  const contentType = answer.headers.get('content-type');
  checkAnswer ??= publishedChecks(base);
  (await checkAnswer)(method, path, { status: answer.status, contentType, text });
  // JSON lines are a string of many documents and stay one.
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(contentType ?? '') && text !== '';
  const { status } = answer;
  const read = isJson ? JSON.parse(text) : text;
  recordExample({ method, path, body, status, answer: read });
  return { status, body: read, headers: answer.headers };
}

async function publishedChecks(base: string): Promise<CheckAnswer> {
  const document = await fetch(`${base}/v3/openapi.json`);
  return answersAgainst((await document.json()) as Parameters<typeof answersAgainst>[0]);
}
