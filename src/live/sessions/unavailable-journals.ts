// Absent journals: what a session has of journals whose nodes are away, which this node may have published further.
import type { EpochMs } from '../../model/instant.ts';
import type { FanOut } from './fan-out.ts';
import {
  earlierOf,
  type JournalPlace,
  type LiveSample,
  placeIn,
  type StreamPlace,
} from './stream-position.ts';
import { sampleFrame } from './send-buffer.ts';

type Places = ReadonlyMap<string, JournalPlace>;

export interface AbsentJournals {
  /** The place that this node has published, with what the session has of absent journals. */
  asSessionHas(place: StreamPlace): StreamPlace;
  /**
   * Call when the read of the store begins, with where it begins. Returns what the session has
   * then, which is not more than that.
   */
  passStarts(place: StreamPlace | undefined): StreamPlace | undefined;
  /** Whether the sample is left to the pass that begins when its journal returns. */
  isLater(sample: LiveSample): boolean;
  /** Call when everything that the pass has read was sent, with what the session has then. */
  passEnds(place: StreamPlace | undefined): void;
  /** The shared frame, or one whose cursor does not include what the session lacks. */
  frameFor(sample: LiveSample, frame: Buffer, now: EpochMs): Buffer;
  close(): void;
}

interface AbsentOptions {
  readonly fanOut: Pick<FanOut, 'journals'>;
  /** The journal can be read again, after what the session has of it. */
  readonly returned: (has: Places) => void;
  /** A journal came back while the store was read: what the pass has read of it is not known. */
  readonly torn: () => void;
}

/** What one session has of absent journals; nothing is noted with one journal. */
export function createAbsentJournals({ fanOut, returned, torn }: AbsentOptions): AbsentJournals {
  const { journals: stream } = fanOut;
  let absent: Places = new Map();
  /** During a pass: the journals that it can read. */
  let readable: ReadonlySet<string> | undefined;
  let stop: (() => void) | undefined;

  function note(place: StreamPlace | undefined): void {
    if (stream === undefined || place === undefined || typeof place === 'string') return;
    stop ??= stream.onReturn(comeBack);
    absent = stream.absent(place);
  }

  function comeBack(journal: string): void {
    const place = absent.get(journal);
    if (readable !== undefined) {
      if (place !== undefined || readable.has(journal)) torn();
      return;
    }
    if (place === undefined) return;
    absent = new Map([...absent].filter(([name]) => name !== journal));
    returned(new Map([[journal, place]]));
  }

  return {
    asSessionHas: (place) => withPlaces(place, absent),
    passStarts(place) {
      const has = place && notBeyond(place, absent);
      note(has);
      readable = stream?.live();
      return has;
    },
    isLater: ({ journal = '' }) => absent.has(journal),
    passEnds(place) {
      readable = undefined;
      note(place);
    },
    frameFor(sample, frame, now) {
      if (absent.size === 0 || stream === undefined) return frame;
      return sampleFrame(sample, now, stream.cursorOf(sample, absent));
    },
    close: () => stop?.(),
  };
}

/** The place with these places of some journals. */
export function withPlaces(place: StreamPlace, places: Places): StreamPlace {
  if (typeof place === 'string' || places.size === 0) return place;
  return { before: place.before, journals: new Map([...place.journals, ...places]) };
}

function notBeyond(place: StreamPlace, places: Places): StreamPlace {
  if (typeof place === 'string') return place;
  const journals = [...places].map(
    ([name, has]) => [name, earlierOf(placeIn(place, name), has)] as const,
  );
  return withPlaces(place, new Map(journals));
}
