// Client of the platform for Node and browsers: typed calls, pages, retries and the live stream. It needs no package.
import type {
  AnswerOf,
  ArgumentsOf,
  CallOf,
  CallSettings,
  ItemOf,
  Method,
  PathOf,
} from './interface-calls.ts';
import { type LiveMessage, liveMessages, type LiveOptions } from './live-stream.ts';
import { type BackfillSample, backfillSamples, type BackfillTotal } from './backfill.ts';
import type { Answer } from './idle-limit.ts';
import {
  type AnyCall,
  bodyOf,
  type ClientOptions,
  createSend,
  type FetchRequest,
} from './requests.ts';

export { HeliographError } from './refusal.ts';
export type {
  Answer,
  BackfillSample,
  BackfillTotal,
  ClientOptions,
  FetchRequest,
  LiveMessage,
  LiveOptions,
};

type Caller<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...args: ArgumentsOf<P, M>
) => Promise<AnswerOf<P, M>>;

/** Methods throw HeliographError for any answer other than success. */
export interface Client {
  readonly get: Caller<'get'>;
  /** With a new Idempotency-Key for each call, so that its retries have one effect. */
  readonly post: Caller<'post'>;
  readonly put: Caller<'put'>;
  readonly delete: Caller<'delete'>;
  /** All items of a list, page by page. */
  readonly pages: <P extends PathOf<'get'>>(
    path: P,
    ...args: ArgumentsOf<P, 'get'>
  ) => AsyncGenerator<ItemOf<AnswerOf<P, 'get'>>, void, undefined>;
  /** The same for lists whose filter is a body. */
  readonly pagesOf: <P extends PathOf<'post'>>(
    path: P,
    call: CallOf<P, 'post'>,
  ) => AsyncGenerator<ItemOf<AnswerOf<P, 'post'>>, void, undefined>;
  /**
   * Stores samples of one device without its decoder, in requests of up to 5,000. Repeating it stores
   * no sample twice that has a timestamp.
   */
  readonly backfill: (
    deviceId: string,
    samples: Iterable<BackfillSample>,
    settings?: Pick<CallSettings, 'signal'>,
  ) => Promise<BackfillTotal>;
  /** Samples and events as they happen, also over broken connections. */
  readonly live: (options: LiveOptions) => AsyncGenerator<LiveMessage, void, undefined>;
  /** Any path, without types: the answer, whose body is not read yet. For exports and files. */
  readonly send: (method: string, path: string, call?: AnyCall) => Promise<Response>;
}

/** Items of a page where the call does not say. */
const pageSize = 200;

export function createClient(options: ClientOptions): Client {
  const send = createSend(options);

  const caller =
    (method: Method) =>
    async (path: string, call?: unknown): Promise<unknown> =>
      bodyOf(await send(method, path, call as AnyCall));

  async function* pagesWith(method: Method, path: string, call: AnyCall = {}) {
    for (let page = Number(call.query?.['page'] ?? 0); ; page++) {
      const query = { size: pageSize, ...call.query, page };
      const answer = await send(method, path, { ...call, query });
      const { content, last } = (await bodyOf(answer)) as { content: unknown[]; last: boolean };
      yield* content;
      if (last || content.length === 0) return;
    }
  }

  return {
    get: caller('get') as Client['get'],
    post: caller('post') as Client['post'],
    put: caller('put') as Client['put'],
    delete: caller('delete') as Client['delete'],
    pages: ((path: string, call?: AnyCall) => pagesWith('get', path, call)) as Client['pages'],
    pagesOf: ((path: string, call: AnyCall) => pagesWith('post', path, call)) as Client['pagesOf'],
    backfill: (deviceId, samples, settings) => backfillSamples(send, deviceId, samples, settings),
    live: (live) => liveMessages(options, live),
    async send(method, path, call) {
      const answer = await send(method, path, call);
      if (answer instanceof Response) return answer;
      const { status, statusText, headers } = answer;
      return new Response(await answer.text(), { status, statusText, headers: headers as Headers });
    },
  };
}
