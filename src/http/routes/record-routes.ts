// Record routes: the five routes of one kind of record, from its endpoints and functions.
import type { Endpoint, PermissionAccess, ResourceIn } from '../../contract/endpoint.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Principal } from '../../model/principal.ts';
import type { Place } from '../../model/record.ts';
import type { HandlerOf, InputOf, Route, RouteInput } from '../edge/route.ts';
import { createdOnce } from './create-once.ts';
import { byId, byWorkspace, type Kind, type RecordParts } from './record-parts.ts';

type In<R extends ResourceIn> = Endpoint & { readonly access: PermissionAccess<R> };

/** The result of `recordEndpoints` of the contract. */
interface RecordEndpoints {
  readonly list: In<'handler'>;
  readonly create: In<'body'>;
  readonly read: In<'path'>;
  readonly update: In<'path'>;
  readonly remove: In<'path'>;
}

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
    input: Pick<InputOf<E['read']>, 'headers'>,
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

/** Creates are done once per Idempotency-Key. */
export function recordRoutes<E extends RecordEndpoints, R extends { readonly id: string }>(
  parts: RecordParts,
  endpoints: E,
  functions: RecordFunctions<E, R>,
): Route[] {
  const { kind, list, create, read, update, remove } = functions;
  const findResource = byId(parts, kind);
  const createIn = functions.createIn ?? byWorkspace(parts);
  return [
    { ...endpoints.list, handle: list },
    {
      ...endpoints.create,
      findResource: createIn,
      handle: async (input: InputOf<E['create']>, principal: Principal) => {
        await functions.checkCreate?.(input, principal);
        return createdOnce(
          parts,
          { input, principal },
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
