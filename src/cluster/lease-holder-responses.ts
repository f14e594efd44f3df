// Holder answers: what the node that holds some work answers to another one, with refusals as problems of the catalog.
import { isRefused, problem, problemOf, type Refusal, refusalOf } from '../model/problem.ts';

/** The answer to a call, also when the work throws a Problem. */
export async function answerOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    return refusalOf(error);
  }
}

/** The value. Throws the Problem of the holder, and `nodeUnreachable` without a holder. */
export function readAnswer(answer: unknown): unknown {
  if (answer === undefined) throw problem('nodeUnreachable');
  const read = answer as { readonly value: unknown } | Refusal;
  if (isRefused(read)) throw problemOf(read);
  return read.value;
}
