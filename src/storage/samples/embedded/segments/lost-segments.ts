// Segments that count and cannot be read, known by the times of their samples alone: any answer that reaches into those may lack some.
import { earliest } from '../../../../model/instant.ts';
import type { SampleRange, UnreadableSamples } from '../../sample-store.ts';
import { missing } from '../../../../structures/missing.ts';
import type { Manifest } from './manifest.ts';

/** A range, and what is called for each stretch of it that cannot be read. */
export interface ReportedRange extends SampleRange {
  readonly unreadable: (samples: UnreadableSamples) => void;
}

export interface LostSegments {
  /** Calls the range's `unreadable` for each lost segment that may have had samples in it. */
  readonly report: (range: ReportedRange) => void;
}

/** Of the manifest as a start leaves it: a file that comes back counts from the next start on. */
export function createLostSegments({ lost, times }: Manifest): LostSegments {
  return {
    report: ({
      deviceId,
      topic = '*',
      from = earliest,
      to = Number.POSITIVE_INFINITY,
      unreadable,
    }) => {
      for (const name of lost) {
        const [oldest, newest] = times[name] ?? missing('times of a lost segment');
        if (newest < from || oldest >= to) continue;
        unreadable({
          deviceId,
          topic,
          from: oldest,
          to: newest,
          place: `${name}, which is missing or damaged as a whole`,
        });
      }
    },
  };
}
