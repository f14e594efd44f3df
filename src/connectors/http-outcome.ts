// What an HTTP answer means for a delivery (contract 35): 2xx delivered; 4xx other than 408 and 429 refused for good; else again.
import type { Response } from 'undici';
import type { EgressGuard } from '../egress/guard.ts';
import type { SendOutcome } from './connector.ts';
import { attempt } from './send-failure.ts';

const answerBytesMax = 8 * 1024;
const retryAfterMsMax = 12 * 3_600_000;

/** An answer, its body cut to what is kept. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a request and judges its answer; `isPassing` names refusals by status 4xx that are worth another try all the same. */
export async function attemptHttp(
  egress: EgressGuard,
  { url, ...request }: HttpRequest,
  signal: AbortSignal,
  isPassing: (answer: HttpAnswer) => boolean = () => false,
): Promise<SendOutcome> {
  let answer: HttpAnswer | undefined;
  const outcome = await attempt(signal, async () => {
    answer = await answerOf(await egress.fetch(url, { ...request, signal }));
    return shown(answer);
  });
  if (answer === undefined || !outcome.ok || (answer.status >= 200 && answer.status < 300)) return outcome;
  const { status, retryAfterMs } = answer;
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return {
    ok: false,
    retry: !isRefusal || isPassing(answer),
    reason: `the server answered ${status}`,
    answer: shown(answer),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function shown({ status, text }: HttpAnswer): string {
  return text === '' ? String(status) : `${status} ${text}`;
}

async function answerOf(response: Response): Promise<HttpAnswer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // A longer body is left unread, which ends its connection.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array);
    bytes += (chunk as Uint8Array).length;
    if (bytes >= answerBytesMax) break;
  }
  const text = Buffer.concat(chunks).subarray(0, answerBytesMax).toString();
  return { status: response.status, text, retryAfterMs: retryAfterOf(response.headers.get('retry-after')) };
}

/** Whole seconds; the other form of the header, a date, would need a clock. */
function retryAfterOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Math.min(Number(header) * 1_000, retryAfterMsMax) : undefined;
}
