// Answers over stored samples of which some cannot be read: they say so (contract 36).
import type { UnreadableSamples } from '../../samples/sample-store.ts';
import { refuseUnreadable } from '../../samples/unreadable.ts';
import { Answer } from './route.ts';

/** On every answer that leaves out samples because they are damaged. */
export const incompleteHeader = { 'x-incomplete': 'true' } as const;

export interface Completeness {
  /** To be handed to the store with the read. */
  readonly unreadable: (samples: UnreadableSamples) => void;
  readonly isIncomplete: () => boolean;
  /** Throws Problem `samplesDamaged` when the read left something out. */
  readonly refuse: () => void;
  /** The answer with the header when the read left something out, else the plain body. */
  readonly answer: <T>(body: T) => T | Answer<T>;
}

/** For one request. */
export function completeness(): Completeness {
  let first: UnreadableSamples | undefined;
  return {
    unreadable: (samples) => {
      first ??= samples;
    },
    isIncomplete: () => first !== undefined,
    refuse: () => {
      if (first !== undefined) refuseUnreadable(first);
    },
    answer: (body) => (first === undefined ? body : new Answer(200, body, incompleteHeader)),
  };
}
