// Form of messages between nodes: batches, and an outcome for each message of one.
import { errorMessage } from '../../../model/errors.ts';
import { Problem, problemOf, type Refusal, refusalOf } from '../../../model/problem.ts';

/** Calls between nodes: a batch of messages, and the outcomes of those that took longer. */
export const messagesCall = 'messages';
export const outcomesCall = 'outcomes';

/** The queue is the name of a lease, or that of a node. */
export type MessageOfBatch = readonly [queue: string, kind: string, request: unknown];

/** `moved`: the node does not serve the queue, and did nothing that another node knows of. */
export type Outcome =
  | { readonly answer: unknown }
  | { readonly moved: true }
  | Refusal
  | { readonly error: string };

export interface BatchAnswer {
  /** Null for messages whose work continues. */
  readonly outcomes: readonly (Outcome | null)[];
  /** Of the outcomes that follow. */
  readonly ticket?: string;
}

const nodePrefix = 'node/';

export function queueOfNode(nodeId: string): string {
  return `${nodePrefix}${nodeId}`;
}

export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof Problem)) return { error: errorMessage(error) };
  return error.problem === 'deviceMoved' ? { moved: true } : refusalOf(error);
}

/** The error of an outcome that is neither an answer nor a move. */
export function errorOf(outcome: Exclude<Outcome, { answer: unknown } | { moved: true }>): Error {
  if ('error' in outcome) return new Error(`Another node has failed: ${outcome.error}`);
  return problemOf(outcome);
}
