// Lease member: the turns of one node: it renews, takes what is missing, gives what is too much.
import type { NodeAddress } from '../model/node-address.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { HeldLeases } from './held-leases.ts';
import type { LeaseListeners } from './lease-listeners.ts';
import { type LeaseTurn, planTurn } from './lease-plan.ts';
import type { LeaseTable, LeaseView } from './lease-table.ts';
import type { Lease, LeaseName, Owner } from './leases.ts';
import type { TableSession } from './table-session.ts';

/** A fifth of the time is left for clocks that do not run alike, and for answers on their way. */
export const validPart = 4 / 5;
const renewals = 5;
/** What was accepted has this part of the time to end, before its lease moves. */
const leavingPart = 1 / 2;

export interface LeaseEvents {
  /** The table cannot be used, or a listener failed. It is tried again. */
  readonly failed: (what: string, error: unknown) => void;
  /** Another process runs with the id of this node: this one takes no leases any longer. */
  readonly superseded: () => void;
  readonly changed: (change: { readonly gained: number; readonly lost: number }) => void;
}

export interface MemberParts {
  readonly node: NodeAddress;
  /** Opens a session of the table. */
  readonly openTable: () => Promise<LeaseTable>;
  /** Whether it never takes leases: it works on what it has, and others serve. */
  readonly takesNone?: boolean;
  /** How long the table keeps a lease for a node that is silent. */
  readonly leaseMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
  readonly events: LeaseEvents;
}

export interface Member {
  readonly parts: MemberParts;
  readonly wanted: ReadonlySet<LeaseName>;
  readonly held: HeldLeases;
  readonly session: TableSession;
  readonly listeners: LeaseListeners;
  owners: ReadonlyMap<LeaseName, Owner>;
  /** By the clock of the node, before the renewal was sent. */
  renewedAt: number;
  /** Whether the last turn could not use the table. */
  isFailing: boolean;
  /** Leases on their way to other nodes. */
  giving: Promise<void> | undefined;
  isDraining: boolean;
  /** Whether it takes and renews nothing any longer. */
  hasLeft: boolean;
}

/** One turn; leases that are too many are given in the background. */
export async function runTurn(member: Member): Promise<void> {
  const plan = await member.session.run((table) => turn(member, table, false));
  if (plan === undefined || plan.gifts.length === 0) return;
  if (member.hasLeft || member.giving !== undefined) return;
  member.giving = giveAll(member, plan)
    .catch((error) => member.parts.events.failed('moving leases', error))
    .finally(() => {
      member.giving = undefined;
    });
}

async function turn(
  member: Member,
  table: LeaseTable,
  mustRenew: boolean,
): Promise<LeaseTurn | undefined> {
  const { parts, wanted, held } = member;
  const isDue = parts.now() - member.renewedAt >= parts.leaseMs / renewals;
  if (!member.hasLeft && (mustRenew || isDue)) await renew(member, table);
  const view = await table.view();
  member.owners = ownersOf(view);
  if (member.hasLeft) return undefined;
  const plan = planTurn({ view, wanted, nodeId: parts.node.id, leases: held.all() });
  if (plan.hasUnknown && !mustRenew) return turn(member, table, true);
  if (member.isDraining || plan.takes.length === 0) return plan;
  await take(member, table, plan);
  member.owners = ownersOf(await table.view());
  return plan;
}

async function renew(member: Member, table: LeaseTable): Promise<void> {
  const { parts, held } = member;
  const sentAt = parts.now();
  const rows = await table.renew(member.isDraining);
  if (rows === undefined) {
    member.hasLeft = true;
    parts.events.superseded();
    return announceAll(member, [], endAll(held));
  }
  member.renewedAt = sentAt;
  const { gained, lost } = held.renewed(rows, sentAt + parts.leaseMs * validPart);
  announceAll(member, gained, lost);
}

async function take(member: Member, table: LeaseTable, { takes }: LeaseTurn): Promise<void> {
  const { parts, held } = member;
  for (const { names, countMax } of takes) {
    const sentAt = parts.now();
    const rows = await table.take(names, countMax);
    announceAll(member, held.taken(rows, sentAt + parts.leaseMs * validPart), []);
  }
}

async function giveAll(member: Member, { gifts }: LeaseTurn): Promise<void> {
  const { held, session } = member;
  const moves = gifts.map(({ names, to }) => ({ leases: held.leave(names), to }));
  const leases = moves.flatMap((move) => move.leases);
  await announceLeaving(member, leases);
  await session
    .run(async (table) => {
      // Before another node can hold them.
      held.end(leases);
      for (const { leases: moved, to } of moves) await table.move(moved, to);
    })
    // Without a session they are not moved, and the next renewal finds them again.
    .finally(() => held.end(leases));
}

/** Gives everything to other nodes; without one, others can take it immediately. */
export async function drain(member: Member): Promise<void> {
  if (member.hasLeft) return;
  member.isDraining = true;
  await member.giving;
  member.renewedAt = Number.NEGATIVE_INFINITY;
  await runTurn(member);
  await member.giving;
  const { held, session } = member;
  await announceLeaving(member, held.leave(held.all().map(({ name }) => name)));
  await session.run(async (table) => {
    member.hasLeft = true;
    endAll(held);
    await table.release();
  });
}

/** Ends all leases by the clock of this process only. */
export function endAll(held: HeldLeases): readonly Lease[] {
  const ended = held.all();
  held.end(ended);
  return ended;
}

function announceAll(member: Member, gained: readonly Lease[], lost: readonly Lease[]): void {
  if (gained.length + lost.length === 0) return;
  member.parts.events.changed({ gained: gained.length, lost: lost.length });
  void member.listeners.announce(gained, lost);
}

/** Resolves when the listeners are ready, or the time for it is over. */
export function announceLeaving(
  { parts, listeners }: Member,
  leases: readonly Lease[],
): Promise<void> {
  if (leases.length > 0) parts.events.changed({ gained: 0, lost: leases.length });
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = parts.setTimer(resolve, parts.leaseMs * leavingPart);
  return Promise.race([listeners.announce([], leases), promise]).finally(cancel);
}

function ownersOf({ rows }: LeaseView): ReadonlyMap<LeaseName, Owner> {
  const owners = new Map<LeaseName, Owner>();
  for (const { name, epoch, node, isLive } of rows)
    if (isLive && node !== undefined) owners.set(name, { node, epoch });
  return owners;
}
