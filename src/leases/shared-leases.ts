// Shared leases: one node's part in dividing the leases among all nodes, by their common table.
import { createHeldLeases } from './held-leases.ts';
import { createLeaseListeners } from './lease-listeners.ts';
import {
  announceLeaving,
  drain,
  endAll,
  type Member,
  type MemberParts,
  runTurn,
  validPart,
} from './lease-member.ts';
import type { LeaseName, Leases } from './leases.ts';
import { problem } from '../model/problem.ts';
import { createTableSession } from './table-session.ts';

export interface SharedLeases extends Leases {
  /** Joins the other nodes. Rejects when the table cannot be used. */
  start(): Promise<void>;
  /** See `HeldLeases`. */
  continuity(): number;
  /** Resolves when the changes and moves begun so far are done. */
  idle(): Promise<void>;
}

const turnsPerLease = 10;

export function createSharedLeases(parts: MemberParts): SharedLeases {
  const { node, openTable, leaseMs, now, events } = parts;
  const wanted = new Set<LeaseName>();
  const held = createHeldLeases(now);
  const session = createTableSession({
    ...{ node, openTable, wanted },
    hasLeft: () => member.hasLeft,
    isDraining: () => member.isDraining,
  });
  const failed = (error: unknown) => events.failed('changing leases', error);
  const listeners = createLeaseListeners({ ready: held.use, failed });
  const member: Member = {
    ...{ parts, wanted, held, session, listeners },
    owners: new Map(),
    renewedAt: Number.NEGATIVE_INFINITY,
    isFailing: false,
    giving: undefined,
    isDraining: parts.takesNone ?? false,
    hasLeft: false,
  };
  let waiting: Promise<void> | undefined;
  let stopTimer: (() => void) | undefined;

  const isCutOff = (): boolean =>
    member.isFailing && now() - member.renewedAt >= leaseMs * validPart;

  /** One turn at a time: callers share the one in progress. */
  function takeTurn(): Promise<void> {
    waiting ??= runTurn(member)
      .then(
        () => void (member.isFailing = false),
        (error: unknown) => {
          member.isFailing = true;
          throw error;
        },
      )
      .finally(() => {
        waiting = undefined;
      });
    return waiting;
  }

  return {
    node,
    ...{ held: held.held, continuity: held.continuity },
    want(names) {
      for (const name of names) wanted.add(name);
    },
    onChange: listeners.add,
    owners: () => member.owners,
    isCutOff,
    async refresh() {
      // The next turn of the timer finds out whether the table is back.
      if (!isCutOff()) await takeTurn().catch(() => undefined);
      if (isCutOff()) throw problem('recordsUnreachable');
    },
    async start() {
      await takeTurn();
      await listeners.idle();
      const inBackground = () =>
        void takeTurn().catch((error) => events.failed('renewing leases', error));
      stopTimer = parts.setRepeatingTimer(inBackground, leaseMs / turnsPerLease);
    },
    async idle() {
      await listeners.idle();
      await member.giving;
      await listeners.idle();
    },
    drain: () => drain(member),
    async close() {
      stopTimer?.();
      await drain(member).catch((error) => events.failed('releasing leases', error));
      member.hasLeft = true;
      await announceLeaving(member, endAll(held));
      await session.close();
    },
  };
}
