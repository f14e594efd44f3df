// Refuses what cannot be answered without samples that are damaged.
import { formatInstant } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { UnreadableSamples } from './sample-store.ts';

/** Throws Problem `samplesDamaged`, which names them. */
export function refuseUnreadable({ from, to, deviceId, topic, place }: UnreadableSamples): never {
  throw problem('samplesDamaged', {
    deviceId,
    topic,
    from: formatInstant(from),
    to: formatInstant(to),
    place,
  });
}
