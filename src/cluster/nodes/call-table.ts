// Call table: handles each call of another node once, also when it is received twice.
import { createBoundedMap } from '../../structures/bounded-map.ts';
import { type CallHandlers, nodeLimits } from './nodes.ts';

interface ReceivedCall {
  /** Chosen by the caller; the same when the call is sent again. */
  readonly id: string;
  readonly name: string;
  readonly from: string;
  readonly request: unknown;
}

/** Rejects as the handler does, and for an unknown name. */
export type HandleCall = (call: ReceivedCall) => Promise<unknown>;

export function createCallTable(handlers: CallHandlers): HandleCall {
  const answers = createBoundedMap<string, Promise<unknown>>(nodeLimits.answersMax);
  return ({ id, name, from, request }) => {
    const key = `${from} ${id}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const handle = handlers.get(name);
    if (handle === undefined) return Promise.reject(new Error(`Unknown call: ${name}`));
    const answer = Promise.try(handle, request, from);
    answers.set(key, answer);
    return answer;
  };
}
