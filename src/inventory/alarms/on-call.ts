// On-call orders: create, read, list, update and delete, and who is on call (contract 39.4).
import type { OnCallDraft, OnCallUpdate } from '../../contract/alarms.ts';
import { emailAddressOf } from '../../model/user.ts';
import { formatInstant, formatInstantOrNull, parseInstant } from '../../model/instant.ts';
import { isMailAddress } from '../../model/mail.ts';
import {
  type OnCall,
  onCallAt,
  onCallLimits,
  type OnCallOverride,
  turnLengths,
} from '../../model/on-call.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { openTimeZones } from '../../model/time-zone.ts';
import { typesWithProperties } from '../../outputs/connectors/connector-table.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { organizationMemberRows } from '../../storage/records/rows/users.ts';
import { onCallRows } from '../../storage/records/rows/mutes.ts';
import { outputConnectorRows } from '../../storage/records/rows/data-flows.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { auditView, change, Crud, placeIn, type Step, usersNamedMax } from '../record-crud.ts';

const crud = new Crud<OnCall>('onCall', 'on-call order', () => onCallRows, check);
const zoneOf = openTimeZones();

function onCallView(onCall: OnCall, left: ReadonlySet<string>) {
  const { memberEmails: _, startsAt, overrides, ...shown } = onCall;
  return {
    ...shown,
    startsAt: formatInstant(startsAt),
    overrides: overrides.map(({ from, to, email }) => ({
      from: formatInstant(from),
      to: formatInstant(to),
      email,
    })),
    formerMembers: [...new Set(emailsOf(onCall))].filter((email) => left.has(email)),
    ...auditView(onCall),
  };
}

/** Every address that an order names, in the form in which addresses are compared. */
function emailsOf({
  order,
  overrides,
}: {
  readonly order: readonly string[];
  readonly overrides: readonly OnCallOverride[];
}): string[] {
  return [...order, ...overrides.map(({ email }) => email)].map(emailAddressOf);
}

/** Addresses of former members of the organization, for each of the orders. */
async function withLeft(db: RecordsDb, orders: readonly OnCall[]) {
  const left = await leftOf(db, orders);
  return orders.map((onCall) => onCallView(onCall, left.get(onCall.id) ?? new Set()));
}

/** Addresses of the orders that belonged to members of their organization who have left, by order. */
export async function leftOf(
  db: RecordsDb,
  orders: readonly OnCall[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const byOrganization = Map.groupBy(orders, ({ organizationId }) => organizationId);
  const left = new Map<string, ReadonlySet<string>>();
  for (const [organizationId, own] of byOrganization) {
    const asked = [...new Set(own.flatMap(({ memberEmails }) => memberEmails))];
    const members = await organizationMemberRows.emailsAmong(db, organizationId, asked);
    for (const { id, memberEmails } of own)
      left.set(id, new Set(memberEmails.filter((email) => !members.has(email))));
  }
  return left;
}

/** On-call orders as callers make and read them (contract 39.4). */
export class OnCallOrders {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: OnCallDraft) {
    const record = await crud.create(this.#records, async (step, fields) => {
      const place = await placeIn(step, draft.workspaceId);
      const read = drafted(draft);
      const memberEmails = await organizationMemberRows.emailsAmong(step.db, place.organizationId, [
        ...new Set(emailsOf(read)),
      ]);
      return { ...fields, ...place, ...read, memberEmails: [...memberEmails] };
    });
    return onCallView(record, new Set());
  }

  async read(id: string) {
    const [view] = await withLeft(this.#records.db, [await crud.read(this.#records, id)]);
    if (view === undefined) throw new Error('An on-call order has no view');
    return view;
  }

  async list(
    principal: Principal,
    filter: ListScope & { readonly search?: string | undefined },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { search } = filter;
    const { rows, total } = await onCallRows.list(this.#records.db, { ...reach, search }, page);
    return pageOf(await withLeft(this.#records.db, rows), total, page);
  }

  /** An address of a former member stays one until a member of the organization has it again. */
  update(id: string, sent: OnCallUpdate) {
    return change(this.#records, async (step) => {
      const current = await crud.read(step, id);
      const { workspaceId, organizationId } = current;
      const read = drafted({ ...sentForm(current), ...givenIn(sent), workspaceId });
      const emails = emailsOf(read);
      const members = await organizationMemberRows.emailsAmong(step.db, organizationId, [
        ...new Set(emails),
      ]);
      const known = current.memberEmails.filter((email) => emails.includes(email));
      const memberEmails = [...new Set([...members, ...known])];
      await crud.update(step, id, sent, () => ({ ...read, memberEmails }));
      return new OnCallOrders(step).read(id);
    });
  }

  /** Throws 409 naming the output connectors that notify it. */
  remove(id: string): Promise<void> {
    return crud.remove(this.#records, id, async (step) =>
      connectorsNaming(step, await crud.read(step, id)),
    );
  }

  /** Who is on call at the time, an ISO-8601 date-time; now without one. Throws 400 for another text. */
  async now(id: string, at: string | undefined) {
    const onCall = await crud.read(this.#records, id);
    const moment = at === undefined ? this.#records.now() : parseInstant(at);
    if (moment === undefined)
      throw problem('invalidRequest', { reason: 'query at: is not a valid ISO-8601 date-time' });
    const left = (await leftOf(this.#records.db, [onCall])).get(id);
    const { email, until, next } = onCallAt(onCall, zoneOfOrder(onCall), moment, left);
    return { email, until: formatInstantOrNull(until), next };
  }
}

/** A zone that the runtime no longer knows is UTC. */
export function zoneOfOrder({ timeZone }: OnCall) {
  const zone = zoneOf(timeZone) ?? zoneOf('UTC');
  if (zone === undefined) throw new Error('The runtime has no time zone UTC');
  return zone;
}

/** The output connectors of its workspace that notify it, `output connector Name (id)`. */
async function connectorsNaming(step: Step, { id, workspaceId }: OnCall): Promise<string[]> {
  const users: string[] = [];
  for (const { type, properties } of typesWithProperties) {
    if (!properties.namesOnCalls) continue;
    for (const other of await outputConnectorRows.findReadable(step, workspaceId, type)) {
      const named = other.properties === null ? [] : properties.onCallIds.named(other.properties);
      if (named.some((one) => one.id === id))
        users.push(`output connector ${other.name} (${other.id})`);
      if (users.length === usersNamedMax) return users;
    }
  }
  return users;
}

// Drafts.

const invalid = (field: string, reason: string) =>
  problem('invalidRequest', { reason: `body ${field}: ${reason}` });

/** A stored order as a request would send it. */
function sentForm({ name, description, timeZone, order, turn, startsAt, overrides }: OnCall) {
  return {
    name,
    description,
    timeZone,
    order,
    turn,
    startsAt: formatInstant(startsAt),
    overrides: overrides.map(({ from, to, email }) => ({
      from: formatInstant(from),
      to: formatInstant(to),
      email,
    })),
  };
}

/** The members that a request contains; null clears a description and the overrides. */
function givenIn({ id: _, version: __, ...sent }: OnCallUpdate): Partial<OnCallDraft> {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
}

/** Checked as far as no other record is needed. Throws 400 naming the field. */
function drafted(draft: OnCallDraft) {
  const { order, turn } = draft;
  const { orderMax } = onCallLimits;
  if (order.length === 0 || order.length > orderMax)
    throw invalid('order', `must have 1 to ${orderMax} email addresses`);
  const stranger = order.findIndex((email) => !isMailAddress(email));
  if (stranger >= 0) throw invalid(`order.${stranger}`, 'must be an email address');
  if (!turnLengths.includes(turn))
    throw invalid('turn', `must be one of ${turnLengths.join(', ')}`);
  const zone = zoneOf(draft.timeZone);
  if (zone === undefined)
    throw problem('unknownTimeZone', { timeZone: draft.timeZone.slice(0, 100) });
  const startsAt = parseInstant(draft.startsAt);
  if (startsAt === undefined) throw invalid('startsAt', 'is not a valid ISO-8601 date-time');
  return {
    name: draft.name,
    description: draft.description ?? null,
    timeZone: zone.id,
    order: [...order],
    turn,
    startsAt,
    overrides: overridesFrom(draft.overrides ?? []),
  };
}

function overridesFrom(sent: NonNullable<OnCallDraft['overrides']>): OnCallOverride[] {
  const { overridesMax, overrideMsMax } = onCallLimits;
  if (sent.length > overridesMax)
    throw invalid('overrides', `must have at most ${overridesMax} items`);
  const read = sent.map((one, place) => {
    const field = `overrides.${place}`;
    const [from, to] = [parseInstant(one.from), parseInstant(one.to)];
    if (from === undefined) throw invalid(`${field}.from`, 'is not a valid ISO-8601 date-time');
    if (to === undefined) throw invalid(`${field}.to`, 'is not a valid ISO-8601 date-time');
    if (to <= from) throw invalid(`${field}.to`, 'must be after from');
    if (to - from > overrideMsMax)
      throw invalid(`${field}.to`, 'must be at most 366 days after from');
    if (!isMailAddress(one.email)) throw invalid(`${field}.email`, 'must be an email address');
    return { place, from, to, email: one.email };
  });
  const inOrder = read.toSorted((a, b) => a.from - b.from);
  for (const [i, one] of inOrder.entries()) {
    const before = inOrder[i - 1];
    if (before !== undefined && before.to > one.from)
      throw invalid(`overrides.${one.place}`, `overlaps overrides.${before.place}`);
  }
  return inOrder.map(({ from, to, email }) => ({ from, to, email }));
}

/** Throws 409 for an order too many. */
async function check(step: Step, { workspaceId }: OnCall, current: OnCall | undefined) {
  const { perWorkspaceMax } = onCallLimits;
  if (current === undefined && (await onCallRows.count(step.db, workspaceId)) >= perWorkspaceMax)
    throw problem('onCallFull', { max: perWorkspaceMax });
}
