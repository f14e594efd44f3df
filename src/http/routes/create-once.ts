// Creates that are done once per Idempotency-Key (contract 35).
import type { Once } from '../../uplinks/idempotency/idempotency.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { idempotencyKeyOf } from '../edge/request-head.ts';
import type { RouteInput } from '../edge/route.ts';

interface OnceParts {
  readonly records: Inventory;
  readonly once: Once;
}

interface Call {
  readonly input: RouteInput<unknown, unknown, unknown>;
  readonly principal: Principal;
}

/**
 * Creates within the records that it is given: those of a transaction when the request has an
 * Idempotency-Key.
 */
type Create<T> = (step: Inventory) => Promise<T>;

/**
 * Creates the record, or reads the one that an earlier request with the same Idempotency-Key
 * created.
 */
export async function createdOnce<T extends { readonly id: string }>(
  parts: OnceParts,
  call: Call,
  create: Create<T>,
  read: (id: string) => Promise<T>,
): Promise<T> {
  // Only the id is stored, because answers may contain secrets.
  const { created, stored } = await createOnce(parts, call, create, ({ id }) => id);
  return created ?? read(stored);
}

/**
 * For what cannot be read again, such as the secret of a new key: the first answer is stored
 * encrypted, and returned again.
 */
export async function answeredOnce<T extends object>(
  parts: OnceParts,
  call: Call,
  create: Create<T>,
): Promise<T> {
  const { sealer } = parts.records;
  const once = await createOnce(parts, call, create, (created) =>
    sealer.seal(JSON.stringify(created)),
  );
  return once.created ?? (JSON.parse(sealer.open(once.stored)) as T);
}

/** The record of this request, else what was stored of that of an earlier one. */
interface CreatedOrStored<T> {
  readonly created: T | undefined;
  readonly stored: string;
}

async function createOnce<T extends object>(
  parts: OnceParts,
  { input, principal }: Call,
  create: Create<T>,
  storedFormOf: (created: T) => string,
): Promise<CreatedOrStored<T>> {
  const { headers, path, body } = input;
  const key = idempotencyKeyOf(headers);
  let created: T | undefined;
  let stored = '';
  if (key === undefined) created = await create(parts.records);
  else {
    const call = { credential: principal.id, route: `POST ${path}`, key, body: body as Json };
    const answer = await parts.once.created(call, async (step) => {
      created = await create(step);
      return { status: 201, body: storedFormOf(created) };
    });
    stored = String(answer.body);
  }
  return { created, stored };
}
