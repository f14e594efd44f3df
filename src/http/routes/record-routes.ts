// Record routes: what the routes of all kinds of records share.
import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint, PermissionAccess, ResourceIn } from '../../contract/endpoint.ts';
import type { ConnectorViewOptions } from '../../inventory/data-flows/output-connectors.ts';
import { type Inventory, placeInWorkspace, placeOf } from '../../inventory/record-crud.ts';
import type { Principal } from '../../model/principal.ts';
import type { Place } from '../../model/record.ts';
import type { HandlerOf, InputOf, Route, RouteInput } from '../edge/route.ts';
import type { Page } from '../../model/page.ts';
import type { Once } from '../../uplinks/idempotency/idempotency.ts';
import type { Json } from '../../model/json.ts';
import { idempotencyKeyOf } from '../edge/admission.ts';
import { type VendorAliases, wantsVendorNames } from './connector-view-options.ts';

type In<R extends ResourceIn> = Endpoint & { readonly access: PermissionAccess<R> };

/** The result of `recordEndpoints` of the contract. */
interface RecordEndpoints {
  readonly list: In<'handler'>;
  readonly create: In<'body'>;
  readonly read: In<'path'>;
  readonly update: In<'path'>;
  readonly remove: In<'path'>;
}

/** What the routes of one kind of record call. */
interface RecordFunctions<E extends RecordEndpoints, R> {
  /** What a 404 calls the record, and where it is looked up. */
  readonly kind: Kind;
  /** Finds where the body creates the record; by default its `workspaceId`. */
  readonly createIn?: (
    body: InputOf<E['create']>['body'],
    principal: Principal,
  ) => Place | Promise<Place>;
  readonly list: HandlerOf<E['list']>;
  /** Throws a Problem for a body that the schema accepts; also for a repeated request. */
  readonly checkCreate?: (input: InputOf<E['create']>, principal: Principal) => unknown;
  /**
   * Creates within `step`: the records of a transaction when the request has an Idempotency-Key.
   */
  readonly create: (
    step: Inventory,
    input: InputOf<E['create']>,
    principal: Principal,
  ) => Promise<R>;
  readonly read: (
    id: string,
    input: { readonly headers: IncomingHttpHeaders },
    principal: Principal,
  ) => Promise<R>;
  readonly update: (id: string, input: InputOf<E['update']>, principal: Principal) => Promise<R>;
  readonly remove: (
    id: string,
    input: InputOf<E['remove']>,
    principal: Principal,
  ) => Promise<unknown>;
}

type IdInput<B = unknown> = RouteInput<{ readonly id: string }, never, B>;
type AnyInput = RouteInput<unknown, unknown, unknown>;

/** Records as routes read and change them, with creates that are done once per Idempotency-Key (contract 35). */
export class RecordRoutes {
  readonly records: Inventory;
  readonly now: () => number;
  readonly once: Once;
  /** Whether an answer to these headers carries the names that older clients read (contract 34). */
  readonly aliased: (headers: IncomingHttpHeaders) => boolean;
  readonly #revealConnectorSecrets: boolean;

  /** `revealConnectorSecrets`: secrets of output connectors in clear, for old clients. */
  constructor(
    records: Inventory,
    once: Once,
    now: () => number,
    settings: { readonly vendorAliases: VendorAliases; readonly revealConnectorSecrets: boolean },
  ) {
    this.records = records;
    this.once = once;
    this.now = now;
    this.aliased = wantsVendorNames(settings.vendorAliases);
    this.#revealConnectorSecrets = settings.revealConnectorSecrets;
  }

  /** Finds the record of the path. */
  byId(kind: Kind) {
    return ({ id }: { readonly id: string }) => placeOf(this.records, kind, id);
  }

  /** Finds the workspace of the body. */
  readonly byWorkspace = ({ workspaceId }: { readonly workspaceId: string }) =>
    placeInWorkspace(this.records, workspaceId);

  readonly viewOptions = (headers: IncomingHttpHeaders): ConnectorViewOptions => ({
    vendorNames: this.aliased(headers),
    connectorSecrets: this.#revealConnectorSecrets,
  });

  /** The five routes of one kind of record. Creates are done once per Idempotency-Key. */
  crud<E extends RecordEndpoints, R extends { readonly id: string }>(
    endpoints: E,
    functions: RecordFunctions<E, R>,
  ): Route[] {
    const { kind, list, create, read, update, remove } = functions;
    const findResource = this.byId(kind);
    const createIn = functions.createIn ?? this.byWorkspace;
    return [
      { ...endpoints.list, handle: list },
      {
        ...endpoints.create,
        findResource: createIn,
        handle: async (input: InputOf<E['create']>, principal: Principal) => {
          await functions.checkCreate?.(input, principal);
          return this.createdOnce(
            input,
            principal,
            (step) => create(step, input, principal),
            (id) => read(id, input, principal),
          );
        },
      },
      {
        ...endpoints.read,
        findResource,
        handle: (input: IdInput, principal: Principal) => read(input.params.id, input, principal),
      },
      {
        ...endpoints.update,
        findResource,
        handle: (input: InputOf<E['update']> & IdInput, principal: Principal) =>
          update(input.params.id, input, principal),
      },
      {
        ...endpoints.remove,
        findResource,
        async handle(input: InputOf<E['remove']> & IdInput, principal: Principal) {
          await remove(input.params.id, input, principal);
        },
      },
    ];
  }

  /**
   * Creates the record, or reads the one that an earlier request with the same Idempotency-Key
   * created.
   */
  async createdOnce<T extends { readonly id: string }>(
    input: AnyInput,
    principal: Principal,
    create: Create<T>,
    read: (id: string) => Promise<T>,
  ): Promise<T> {
    // Only the id is stored, because answers may contain secrets.
    const { created, stored } = await this.#createOnce(input, principal, create, ({ id }) => id);
    return created ?? read(stored);
  }

  /**
   * For what cannot be read again, such as the secret of a new key: the first answer is stored
   * encrypted, and returned again.
   */
  async answeredOnce<T extends object>(
    input: AnyInput,
    principal: Principal,
    create: Create<T>,
  ): Promise<T> {
    const { sealer } = this.records;
    const once = await this.#createOnce(input, principal, create, (created) =>
      sealer.seal(JSON.stringify(created)),
    );
    return once.created ?? (JSON.parse(sealer.open(once.stored)) as T);
  }

  /** The record of this request, else what was stored of that of an earlier one. */
  async #createOnce<T extends object>(
    { headers, path, body }: AnyInput,
    principal: Principal,
    create: Create<T>,
    storedFormOf: (created: T) => string,
  ): Promise<{ readonly created: T | undefined; readonly stored: string }> {
    const key = idempotencyKeyOf(headers);
    let created: T | undefined;
    let stored = '';
    if (key === undefined) created = await create(this.records);
    else {
      const call = { credential: principal.id, route: `POST ${path}`, key, body: body as Json };
      const answer = await this.once.created(call, async (step) => {
        created = await create(step);
        return { status: 201, body: storedFormOf(created) };
      });
      stored = String(answer.body);
    }
    return { created, stored };
  }
}

type Kind = Parameters<typeof placeOf>[1];

/**
 * Creates within the records that it is given: those of a transaction when the request has an
 * Idempotency-Key.
 */
type Create<T> = (step: Inventory) => Promise<T>;

/** The organization of the body; an unknown one is a 404 like that of another tenant. */
export function byOrganization({ organizationId }: { readonly organizationId: string }): Place {
  return { organizationId, workspaceId: null, what: 'organization', id: organizationId };
}

// Rows with health: the member `health` of the rows of a list, read for the whole page (contract 37).

type WithHealth<Row, Health> = Row & { readonly health?: Health | null };

/** `healthOf` is asked once for all rows of the page, and only if the query wants it. */
export async function withHealth<Row extends { readonly id: string }, Health>(
  { details }: { readonly details?: boolean | 'health' | undefined },
  page: Page<Row>,
  healthOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, Health>>,
): Promise<Page<WithHealth<Row, Health>>> {
  if (details !== 'health') return page;
  const health = await healthOf(page.content.map(({ id }) => id));
  const content = page.content.map((row) => ({ ...row, health: health.get(row.id) ?? null }));
  return { ...page, content };
}
