// Followed entries: the journal of another node, from a position on, without gap or repetition over broken links.
import {
  entryFeed,
  type EntryFeedChange,
  type EntryFeedMessage,
  type EntryFeedRequest,
} from './entry-feed.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import { Problem } from '../model/problem.ts';

/** A feed of the port between nodes, opened. */
interface OpenFeed extends AsyncIterable<unknown> {
  change(request: unknown): void;
  close(): void;
}

export interface FollowedEntries {
  /**
   * The messages, in order; ends after `close`. After the link was broken, they continue from where
   * they were. Throws Problem `cursorTooOld` when the journal was released beyond that.
   */
  readonly messages: AsyncIterable<EntryFeedMessage>;
  /** Applies to the open feed; later ones get the whole request. */
  change(change: EntryFeedChange): void;
  close(): void;
}

/** Follows the journal of another node, also over broken links, which `broken` reports. */
export type FollowEntriesOf = (
  node: NodeAddress,
  request: () => EntryFeedRequest,
  broken?: () => void,
) => FollowedEntries;

export function followEntries(parts: {
  /** Opens a feed of the other node. */
  readonly follow: (feed: string, request: unknown) => OpenFeed;
  /** The request to open with, now and after the link was broken. */
  readonly request: () => EntryFeedRequest;
  /** Reports a broken link; it is opened again. */
  readonly broken: (error: unknown) => void;
  readonly wait: () => Promise<unknown>;
}): FollowedEntries {
  let open: OpenFeed | undefined;
  let isClosed = false;
  let place: Pick<EntryFeedRequest, 'from' | 'journal'> = {};

  async function* messages(): AsyncGenerator<EntryFeedMessage> {
    while (!isClosed) {
      const request = { ...parts.request(), ...place };
      open = parts.follow(entryFeed, request);
      try {
        for await (const item of open) {
          const message = item as EntryFeedMessage;
          yield message;
          place = { ...place, ...journalOf(message), from: message.next };
        }
      } catch (error) {
        if (error instanceof Problem) throw error;
        parts.broken(error);
      } finally {
        open.close();
      }
      if (!isClosed) await parts.wait();
    }
  }

  return {
    messages: messages(),
    change: (change) => open?.change(change),
    close() {
      isClosed = true;
      open?.close();
    },
  };
}

/** The first message names the journal. */
function journalOf({ journal }: EntryFeedMessage): Pick<EntryFeedRequest, 'journal'> {
  return journal === undefined ? {} : { journal };
}
