// Record endpoints: list, create, read, update and delete of one kind of record, from its path, scope and schemas.
import type { TSchema } from 'typebox';
import type { Scope, Verb } from '../model/permission.ts';
import type { Endpoint, ResourceIn } from './endpoint.ts';
import { idParams } from './record-fields.ts';

type Schemas = 'query' | 'body' | 'response';

/** What differs between the endpoints of two kinds of records. */
type Part<Required extends Schemas> = Pick<Endpoint, 'summary' | 'description'> & {
  readonly [Name in Required]: TSchema;
} & Partial<Pick<Endpoint, 'query' | 'bodyShown' | 'bodyBytesMax' | 'needsAlso'>>;

interface Declared<R extends TSchema> {
  /** Of the list; records are at `:id` below it. */
  readonly path: string;
  readonly tag: string;
  readonly scope: Scope;
  /** Answers with one record. */
  readonly record: R;
  readonly also?: Partial<Record<'create', readonly (readonly [Scope, Verb])[]>>;
}

/**
 * The five endpoints. `list` and `create` are at the path, the others at `:id` below it; each part
 * adds its summary and schemas.
 */
export function recordEndpoints<
  R extends TSchema,
  const L extends Part<'query' | 'response'>,
  const C extends Part<'body'>,
  const G extends Part<never>,
  const U extends Part<'body'>,
  const D extends Part<never>,
>(
  declared: Declared<R> & {
    readonly list: L;
    readonly create: C;
    readonly read: G;
    readonly update: U;
    readonly remove: D;
  },
) {
  const { path, tag, record } = declared;
  const single = { path: `${path}/:id`, tag, params: idParams } as const;
  const access = <P extends ResourceIn>(verb: Verb, resource: P) => ({
    scope: declared.scope,
    verb,
    resource,
  });
  const also = declared.also?.create && { also: declared.also.create };
  return {
    list: { method: 'GET', path, tag, access: access('read', 'handler'), ...declared.list },
    create: {
      method: 'POST',
      path,
      tag,
      access: { ...access('create', 'body'), ...also },
      status: 201,
      response: record,
      ...declared.create,
    },
    read: {
      method: 'GET',
      ...single,
      access: access('read', 'path'),
      response: record,
      ...declared.read,
    },
    update: {
      method: 'PUT',
      ...single,
      access: access('update', 'path'),
      response: record,
      ...declared.update,
    },
    remove: { method: 'DELETE', ...single, access: access('delete', 'path'), ...declared.remove },
  } as const satisfies Readonly<Record<string, Endpoint>>;
}
