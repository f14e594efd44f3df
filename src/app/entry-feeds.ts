// Connects the journals of nodes: this one is offered to the others, and theirs can be followed.
import { setTimeout as wait } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import {
  createEntryFeed,
  EntryTail,
  followEntries,
  type FollowEntriesOf,
} from '../cluster/entry-feed.ts';
import type { FeedHandler, Links } from '../cluster/nodes/links/links.ts';
import { setRepeatingTimer } from '../structures/timers.ts';

/** Without its own number, the journal of a folder has the id of its node. */
export function journalName({ sharedSamples }: Parts, nodeId: string): string {
  return sharedSamples?.journal().toString() ?? nodeId.replaceAll('-', '');
}

/** Offers the journal of this node to the others. */
export function offerEntries(parts: Parts, nodeId: string): FeedHandler {
  const { log, followers, telemetry } = parts;
  const tail = new EntryTail();
  followers.listen('feeds', tail.announced, tail.announcedRows);
  return createEntryFeed({
    log,
    tail,
    setRepeatingTimer,
    journal: () => journalName(parts, nodeId),
    failed: (error) => telemetry.backgroundFailed('sending entries to another node', error),
  });
}

const betweenLinksMs = 200;

export function entriesOver(
  links: Links,
  { backgroundFailed }: Pick<Parts['telemetry'], 'backgroundFailed'>,
): FollowEntriesOf {
  return (node, request, broken) =>
    followEntries({
      follow: (feed, sent) => links.follow(node, feed, sent),
      request,
      broken(error) {
        backgroundFailed('following the entries of another node', error);
        broken?.();
      },
      wait: () => wait(betweenLinksMs),
    });
}
