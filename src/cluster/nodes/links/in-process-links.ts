// Links of one process: pairs of sockets that are queues, for tests with messages that are lost or doubled.
import type { NodeAddress } from '../../../model/node-messages.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import { createDialedLinks } from './dialed-links.ts';
import { type LinkSender, openLinkSender } from './link-sender.ts';
import type { LinkSocket, LinkSocketListener } from './link-channel.ts';
import type { FeedHandlers, Links } from './links.ts';

/** How often a message arrives: usually once. */
export type Carried = 0 | 1 | 2;

interface LinkSwitchParts {
  readonly carry: () => Carried;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
  readonly failed: (feed: string, error: unknown) => void;
}

export class LinkSwitch {
  readonly #parts: LinkSwitchParts;
  readonly #connected = new Map<string, FeedHandlers>();
  readonly #senders = new Map<string, Set<LinkSender>>();
  readonly #sockets = new Set<LinkSocket>();
  readonly #stopped = new Set<string>();
  readonly #dial = (from: string, to: NodeAddress): LinkSocket => {
    const feeds = this.#connected.get(to.id);
    if (feeds === undefined) throw new Error('not connected');
    const [near, far] = socketPair(() => (this.#stopped.has(to.id) ? 0 : this.#parts.carry()));
    this.#sockets.add(near);
    const sender = openLinkSender({ ...this.#parts, socket: far, from, feeds });
    this.#senders.set(to.id, (this.#senders.get(to.id) ?? new Set()).add(sender));
    return near;
  };

  constructor(parts: LinkSwitchParts) {
    this.#parts = parts;
  }

  /** Breaks all links. */
  readonly cut = (): void => {
    for (const socket of this.#sockets) socket.close();
    this.#sockets.clear();
  };

  /** Connects a node; the function disconnects it. */
  connect(id: string, feeds: FeedHandlers): () => Promise<void> {
    this.#connected.set(id, feeds);
    return async () => {
      this.#connected.delete(id);
      await Promise.all([...(this.#senders.get(id) ?? [])].map((sender) => sender.close()));
    };
  }

  linksOf(from: string): Links {
    return createDialedLinks({ ...this.#parts, dial: (to) => Promise.try(this.#dial, from, to) });
  }

  /** Messages to and from the node are kept back, as if it had stopped. */
  stop(id: string): void {
    this.#stopped.add(id);
  }
}

function socketPair(carry: () => Carried): readonly [LinkSocket, LinkSocket] {
  const listeners: (LinkSocketListener | undefined)[] = [undefined, undefined];
  const early: [end: number, message: string][] = [];
  let isOpen = true;

  function deliver(end: number, message: string): void {
    const listener = listeners[end];
    if (!isOpen) return;
    if (listener === undefined) early.push([end, message]);
    else listener.received(message);
  }

  function endOf(own: number): LinkSocket {
    const other = 1 - own;
    return {
      send(message) {
        for (let times = carry(); times > 0; times--) setImmediate(deliver, other, message);
      },
      listen(listener) {
        listeners[own] = listener;
        for (const [end, message] of early.splice(0)) deliver(end, message);
      },
      close() {
        if (!isOpen) return;
        isOpen = false;
        for (const listener of listeners) listener?.closed('the connection was closed');
      },
    };
  }

  return [endOf(0), endOf(1)];
}
