// What the routes of records share: where their records live, and creates that are done once per Idempotency-Key.
import type { Once } from '../../flows/idempotency.ts';
import { type Inventory, placeInWorkspace, placeOf } from '../../inventory/resource-lookup.ts';
import type { Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import type { Place } from '../../model/resource-ref.ts';
import { idempotencyKeyOf } from '../edge/idempotency-key.ts';
import type { RouteInput } from '../edge/route.ts';

export interface RecordParts {
  readonly records: Inventory;
  readonly now: () => number;
  readonly once: Once;
}

export type Kind = Parameters<typeof placeOf>[1];

/** Finds the record of the path. */
export function byId({ records }: Pick<RecordParts, 'records'>, kind: Kind) {
  return ({ id }: { readonly id: string }) => placeOf(records, kind, id);
}

/** Finds the workspace of the body. */
export function byWorkspace({ records }: Pick<RecordParts, 'records'>) {
  return ({ workspaceId }: { readonly workspaceId: string }) =>
    placeInWorkspace(records, workspaceId);
}

/** The organization of the body; an unknown one is a 404 like that of another tenant. */
export function byOrganization({ organizationId }: { readonly organizationId: string }): Place {
  return { organizationId, workspaceId: null, what: 'organization', id: organizationId };
}

type Input = Pick<RouteInput<unknown, unknown, unknown>, 'headers' | 'path' | 'body'>;

/** Work that begins once the record is committed, such as a mail. */
type Afterwards = (task: () => void) => void;

/** Makes a record within the records that it is given: those of a transaction when the request has an Idempotency-Key. */
type Make<T> = (step: Inventory, afterwards: Afterwards) => Promise<T>;

/** Makes the record, or reads the one that an earlier request with the same Idempotency-Key made. */
export async function createdOnce<T extends { readonly id: string }>(
  parts: RecordParts,
  input: Input,
  principal: Principal,
  make: Make<T>,
  read: (id: string) => Promise<T>,
): Promise<T> {
  // The id alone is kept: answers may hold secrets.
  const once = await madeOnce(parts, input, principal, make, (made) => made.id);
  return once.made ?? read(once.kept);
}

/** For what cannot be read again, such as the secret of a new key: the first answer is kept, sealed, and given again. */
export async function answeredOnce<T extends object>(
  parts: RecordParts,
  input: Input,
  principal: Principal,
  make: Make<T>,
): Promise<T> {
  const { sealer } = parts.records;
  const once = await madeOnce(parts, input, principal, make, (made) =>
    sealer.seal(JSON.stringify(made)),
  );
  return once.made ?? (JSON.parse(sealer.open(once.kept)) as T);
}

/** What was made now, else what was kept of what an earlier request made. */
interface MadeOrKept<T> {
  readonly made: T | undefined;
  readonly kept: string;
}

async function madeOnce<T extends object>(
  parts: RecordParts,
  { headers, path, body }: Input,
  principal: Principal,
  make: Make<T>,
  keep: (made: T) => string,
): Promise<MadeOrKept<T>> {
  const tasks: (() => void)[] = [];
  const afterwards: Afterwards = (task) => void tasks.push(task);
  const key = idempotencyKeyOf(headers);
  let made: T | undefined;
  let kept = '';
  if (key === undefined) made = await make(parts.records, afterwards);
  else {
    const call = { credential: principal.id, route: `POST ${path}`, key, body: body as Json };
    const answer = await parts.once.created(call, async (step) => {
      made = await make(step, afterwards);
      return { status: 201, body: keep(made) };
    });
    kept = String(answer.body);
  }
  for (const task of tasks) task();
  return { made, kept };
}
