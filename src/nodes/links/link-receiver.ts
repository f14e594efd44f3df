// Link receiver: the end of a link that follows feeds, and keeps of each what was not read yet.
import type { Json } from '../../model/json.ts';
import type { NodeAddress } from '../../model/node-address.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { NodeUnreachable } from '../nodes.ts';
import { feedErrorOf } from './feed-error.ts';
import { type LinkChannel, type LinkMessage, openLinkChannel } from './link-channel.ts';
import type { LinkSocket } from './link-socket.ts';
import { linkLimits } from './links.ts';

export interface LinkReceiverParts {
  readonly to: NodeAddress;
  readonly socket: LinkSocket;
  /** The link can no longer be used. Called once. */
  readonly ended: () => void;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
}

/** One feed, as the link delivers it. */
export interface ReceivedFeed {
  /** Messages that were not read, with what they count in the window. */
  readonly waiting: { readonly item: Json; readonly cost: number }[];
  /** Why no further message comes; null when the feed is over. */
  end: Error | null | undefined;
  /** Called when there is something new. */
  wake: () => void;
}

export interface LinkReceiver {
  open(name: string, request: Json, feed: ReceivedFeed): OpenFeed;
  close(): void;
}

export interface OpenFeed {
  change(request: Json): void;
  /** Call with the cost of each message that was read. */
  taken(cost: number): void;
  end(): void;
}

export function openLinkReceiver(parts: LinkReceiverParts): LinkReceiver {
  const { to, socket, setRepeatingTimer, setTimer, ended } = parts;
  const feeds = new Map<number, ReceivedFeed>();
  let opened = 0;
  let stopIdle: (() => void) | undefined;

  function finish(id: number, end: Error | null): void {
    const feed = feeds.get(id);
    if (feed === undefined || !feeds.delete(id)) return;
    feed.end = end;
    feed.wake();
    closeWhenIdle();
  }

  function closeWhenIdle(): void {
    if (feeds.size > 0) return;
    stopIdle?.();
    stopIdle = setTimer(() => channel.close('the link is idle'), linkLimits.idleMs);
  }

  const channel = openLinkChannel({
    ...{ socket, setRepeatingTimer },
    received([kind, id, value]: LinkMessage, cost) {
      if (kind === 'done') return finish(id, value === undefined ? null : feedErrorOf(value));
      const feed = feeds.get(id);
      if (kind !== 'item' || feed === undefined) return;
      feed.waiting.push({ item: value ?? null, cost });
      feed.wake();
    },
    broken(reason) {
      stopIdle?.();
      ended();
      for (const id of feeds.keys()) finish(id, new NodeUnreachable(to, true, reason));
    },
  });

  return {
    open(name, request, feed) {
      stopIdle?.();
      const id = (opened += 1);
      feeds.set(id, feed);
      channel.send(['open', id, { name, request }]);
      return openFeed(id, channel, () => finish(id, null));
    },
    close: () => channel.close('this node is stopping'),
  };
}

function openFeed(id: number, channel: LinkChannel, finish: () => void): OpenFeed {
  let taken = 0;
  return {
    change: (request) => void channel.send(['change', id, request]),
    taken(cost) {
      taken += cost;
      if (taken < linkLimits.takenBytes) return;
      channel.send(['take', id, taken]);
      taken = 0;
    },
    end() {
      channel.send(['end', id]);
      finish();
    },
  };
}
