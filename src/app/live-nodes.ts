// Connects the live stream of this node with the other nodes: samples of their devices, and replays.
import { setTimeout as wait } from 'node:timers/promises';
import { entriesOver, journalName } from './entry-feeds.ts';
import type { Parts } from './platform-parts.ts';
import type { EventsElsewhere } from '../cluster/remote-events.ts';
import {
  createJournalReplay,
  createReplayFeed,
  type OwnReplayParts,
} from '../live/journal-replay.ts';
import { createNodeStreams, type LiveNodes } from '../cluster/node-streams.ts';
import { FanOut } from '../live/sessions/fan-out.ts';
import { JournalStream, inJournal } from '../live/sessions/journal-stream.ts';
import { LiveInterests } from '../live/sessions/live-interests.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import type { FeedHandler, Links } from '../cluster/nodes/links/links.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';

export interface NodeOfLive {
  readonly parts: Parts;
  /** Of this node. */
  readonly id: string;
  readonly links: Links;
  /** The other nodes that hold leases. */
  readonly nodes: () => readonly NodeAddress[];
  readonly events: EventsElsewhere;
}

export function offerReplay(node: NodeOfLive): FeedHandler {
  return createReplayFeed(ownReplayOf(node));
}

function ownReplayOf({ parts, id }: NodeOfLive): OwnReplayParts {
  return { log: parts.log, journal: () => journalName(parts, id) };
}

export function openLiveNodes(node: NodeOfLive): LiveNodes {
  const { parts, links, nodes, events } = node;
  const { log, now, telemetry, workspaceFanOut } = parts;
  const { journal } = ownReplayOf(node);
  const stream = new JournalStream({ from: log.reachTime(), setTimer });
  const interests = new LiveInterests(workspaceFanOut);
  const fanOut = new FanOut(workspaceFanOut, { stream, followed: interests.followed });
  let missed: () => void = () => undefined;
  const streams = createNodeStreams({
    log,
    journal,
    stream,
    interests,
    nodes,
    setTimer,
    setRepeatingTimer,
    follow: entriesOver(links, telemetry),
    publish: (samples) => fanOut.publish(samples, now()),
    missed: () => missed(),
    failed: (error) => telemetry.backgroundFailed('following samples of another node', error),
  });
  return {
    ...streams,
    async follow(assetIds) {
      const [ended] = await Promise.all([streams.follow(assetIds), events.known()]);
      return ended;
    },
    fanOut,
    own: {
      publish: (samples, at) =>
        fanOut.publish(
          samples.map((sample) => inJournal(sample, journal())),
          at,
        ),
      pass: (_, last) => stream.passed(journal(), last),
      interestsIn: fanOut.interestsIn,
      workspaces: fanOut.workspaces,
      get size() {
        return fanOut.size;
      },
    },
    replay: createJournalReplay({
      ...ownReplayOf(node),
      nodes: streams.readable,
      unread: streams.unread,
      follow: (to, feed, request) => links.follow(to, feed, request),
      wait,
    }),
    start(restart) {
      missed = restart;
    },
  };
}
