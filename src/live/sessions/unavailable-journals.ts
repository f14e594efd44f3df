// Absent journals: what a session has of journals whose nodes are away, which this node may have published further.
import type { JournalStream } from './journal-stream.ts';
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

/** What one session has of absent journals; nothing is noted with one journal. */
export class AbsentJournals {
  readonly #returned: (has: Places) => void;
  readonly #torn: () => void;
  readonly #stream: JournalStream | undefined;
  #absent: Places = new Map();
  /** During a pass: the journals that it can read. */
  #readable: ReadonlySet<string> | undefined;
  #stop: (() => void) | undefined;
  readonly #comeBack = (journal: string): void => {
    const place = this.#absent.get(journal);
    if (this.#readable !== undefined) {
      if (place !== undefined || this.#readable.has(journal)) this.#torn();
      return;
    }
    if (place === undefined) return;
    this.#absent = new Map([...this.#absent].filter(([name]) => name !== journal));
    this.#returned(new Map([[journal, place]]));
  };

  constructor({
    fanOut,
    returned,
    torn,
  }: {
    readonly fanOut: Pick<FanOut, 'journals'>;
    /** The journal can be read again, after what the session has of it. */
    readonly returned: (has: Places) => void;
    /** A journal came back while the store was read: what the pass has read of it is not known. */
    readonly torn: () => void;
  }) {
    this.#returned = returned;
    this.#torn = torn;
    const { journals: stream } = fanOut;
    this.#stream = stream;
  }

  readonly close = (): void => this.#stop?.();

  /** The place that this node has published, with what the session has of absent journals. */
  asSessionHas(place: StreamPlace): StreamPlace {
    return withPlaces(place, this.#absent);
  }

  /**
   * Call when the read of the store begins, with where it begins. Returns what the session has
   * then, which is not more than that.
   */
  passStarts(place: StreamPlace | undefined): StreamPlace | undefined {
    const has = place && notBeyond(place, this.#absent);
    this.#note(has);
    this.#readable = this.#stream?.live();
    return has;
  }

  /** Whether the sample is left to the pass that begins when its journal returns. */
  isLater({ journal = '' }: LiveSample): boolean {
    return this.#absent.has(journal);
  }

  /** Call when everything that the pass has read was sent, with what the session has then. */
  passEnds(place: StreamPlace | undefined): void {
    this.#readable = undefined;
    this.#note(place);
  }

  /** The shared frame, or one whose cursor does not include what the session lacks. */
  frameFor(sample: LiveSample, frame: Buffer, now: EpochMs): Buffer {
    if (this.#absent.size === 0 || this.#stream === undefined) return frame;
    return sampleFrame(sample, now, this.#stream.cursorOf(sample, this.#absent));
  }

  #note(place: StreamPlace | undefined): void {
    if (this.#stream === undefined || place === undefined || typeof place === 'string') return;
    this.#stop ??= this.#stream.onReturn(this.#comeBack);
    this.#absent = this.#stream.absent(place);
  }
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
