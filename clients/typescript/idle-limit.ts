// Idle limit: ends a call when the platform sends nothing for too long, however long the whole answer takes.

/** What a call needs of an answer; a `Response` has it. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  /** Null where the whole answer came at once. */
  readonly body: Response['body'];
  text(): Promise<string>;
}

/**
 * The limit is for the headers, and then for each part of the body that the caller waits for. Time
 * that the caller takes between two parts does not count. Rejects with a TimeoutError.
 */
export async function withIdleLimit(
  idleMs: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const ending = new AbortController();
  const ended = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => {
      ending.abort(new DOMException(`Nothing came for ${idleMs} ms`, 'TimeoutError'));
    }, idleMs);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  };
  const answer = await inTime(call(ended));
  if (answer.body === null) return answer;
  const { status, statusText, headers } = answer;
  return new Response(limited(answer.body, inTime), {
    status,
    statusText,
    headers: headers as Headers,
  });
}

/** Reads a part only when the caller waits for one. */
function limited(
  body: NonNullable<Response['body']>,
  inTime: <T>(work: Promise<T>) => Promise<T>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(to) {
        const { done, value } = await inTime(reader.read());
        if (done) to.close();
        else to.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
