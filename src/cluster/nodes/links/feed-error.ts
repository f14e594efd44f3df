// Feed error: why a feed ended, as it crosses from one node to another.
import type { Json, JsonObject } from '../../../model/json.ts';
import { Problem } from '../../../model/problem.ts';
import { isRefused, problemOf, type Refusal, refusalOf } from '../../../model/refusal.ts';

/** A Problem keeps its name and details; of other errors only the message crosses. */
export function feedErrorToJson(error: unknown): JsonObject {
  if (!(error instanceof Problem)) return { message: String((error as Error).message) };
  return { ...refusalOf(error) } as unknown as JsonObject;
}

export function feedErrorOf(sent: Json): Error {
  const read = sent as unknown as { readonly message: string } | Refusal;
  return isRefused(read) ? problemOf(read) : new Error(read.message);
}
