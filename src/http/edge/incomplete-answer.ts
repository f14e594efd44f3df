// Incomplete answers: damaged samples are skipped, and the answer says so (contract 36).
import type { UnreadableSamples } from '../../storage/samples/sample-store.ts';
import { refuseUnreadable } from '../../storage/samples/unreadable.ts';
import { Answer } from './route.ts';

/** On every answer that skips damaged samples. */
export const incompleteHeader = { 'x-incomplete': 'true' } as const;

export interface Completeness {
  /** Passed to the store with the read. */
  readonly unreadable: (samples: UnreadableSamples) => void;
  readonly isIncomplete: () => boolean;
  /** Throws Problem `samplesDamaged` when the read skipped something. */
  readonly refuse: () => void;
  /** The answer with the header when the read skipped something, else the plain body. */
  readonly answer: <T>(body: T) => T | Answer<T>;
}

/** For one request. */
export function createCompleteness(): Completeness {
  let first: UnreadableSamples | undefined;
  return {
    unreadable: (samples) => {
      first ??= samples;
    },
    isIncomplete: () => first !== undefined,
    refuse: () => {
      if (first !== undefined) refuseUnreadable(first);
    },
    answer: (body) => {
      if (first === undefined) return body;
      return new Answer(200, body, incompleteHeader);
    },
  };
}
