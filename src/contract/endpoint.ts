// Endpoint: a route of the interface as plain data, for server, document, console and clients.
import type { TSchema } from 'typebox';
import type { Scope, Verb } from '../model/principal.ts';
import { idParams } from './schema-parts.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Anyone may call; `open` says in the reference what authenticates the caller instead. */
export interface OpenAccess {
  readonly open: string;
  /** The secret that is the credential, for the interface reference. */
  readonly secret?: 'uplinkSecret';
}

/**
 * Every valid credential may call; `anyCredential` says so in the reference. The handler returns only
 * what the principal may see.
 */
export interface CredentialAccess {
  readonly anyCredential: string;
  /** Only a signed-in user, never a key or a token (contract 35). */
  readonly userOnly?: true;
  /**
   * Whether a session may call that lacks the second factor which its organization demands: it needs
   * the own account to get one.
   */
  readonly beforeSecondFactor?: true;
}

/** Where a request names the resource that the permission is checked for. */
export type ResourceIn =
  /**
   * In the path: checked before the body is read; an unknown record is a 404, a forbidden one a
   * 403.
   */
  | 'path'
  /** In the body: checked after the body is read. */
  | 'body'
  /** Nowhere, as in a list: the handler limits the answer to what the principal may see, or checks by itself. */
  | 'handler';

/** Credentials with this permission may call. */
export interface PermissionAccess<R extends ResourceIn = ResourceIn> {
  readonly scope: Scope;
  readonly verb: Verb;
  /** Required for the same resource besides (contract 36). */
  readonly also?: readonly (readonly [Scope, Verb])[];
  /** Only a signed-in user, never a key or a token (contract 35). */
  readonly userOnly?: true;
  /**
   * Whether a credential that is limited to workspaces may call without the permission: the handler
   * answers what it may know (contract 42).
   */
  readonly orLimited?: true;
  readonly resource: R;
}

export type EndpointAccess = OpenAccess | CredentialAccess | PermissionAccess;

/** Schemas by content type. */
type ContentTypes = Readonly<Record<string, TSchema>>;

/** The bytes of a body, chunk by chunk. */
export type BodyStream = AsyncIterable<Uint8Array>;

export interface Endpoint {
  readonly method: Method;
  /** Path with `:name` parameters, for example `/v3/devices/:deviceId`. */
  readonly path: string;
  /** Name in the interface reference; derived from method and path when absent. */
  readonly operationId?: string;
  /** Groups endpoints in the interface reference: the resource, for example `Devices`. */
  readonly tag: string;
  /** Title in the interface reference: a verb and its object. */
  readonly summary: string;
  /** What the endpoint does, as sentences for the interface reference; access follows by itself. */
  readonly description?: string;
  /** Whether the interface reference marks it as an older form that new clients should not use. */
  readonly deprecated?: true;
  /** Who may call. */
  readonly access: EndpointAccess;
  /** What the permission of `access` does not cover, as sentences for the interface reference. */
  readonly needsAlso?: string;
  /**
   * Whether the token of a shared dashboard may call it, for the series of its tiles; other endpoints
   * refuse such tokens. `series`: the request names device or tag, topic and data key, and is refused
   * for others. `narrowed`: the handler answers nothing else.
   */
  readonly takesShares?: 'series' | 'narrowed';
  /** In place of the general 401, for clients that take that for the offer of a sign-in. */
  readonly withoutCredential?: 'assistantCredential';
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /**
   * What the interface reference shows of the body, where the handler checks more closely than
   * `body` does.
   */
  readonly bodyShown?: TSchema;
  /**
   * For the interface reference: schemas of the request body by content type, when it is not JSON
   * alone.
   */
  readonly bodyTypes?: ContentTypes;
  /**
   * Whether members of the body that its schema does not name are refused, because the endpoint is ours
   * alone. Other endpoints ignore them and name them in the header `X-Ignored-Members`. `record`: those of
   * the answer are ignored too, because clients change a record that they read and send it back.
   */
  readonly ownBody?: true | 'record';
  readonly bodyBytesMax?: number;
  /**
   * Whether the handler reads the body itself while it arrives, limited by `bodyBytesMax`: declare
   * `body` as `Type.Unsafe<BodyStream>(...)`, whose schema then only documents it. Success means
   * that the body was read to its end.
   */
  readonly streamedBody?: true;
  /** Whether a streamed body may be of any content type; else it must be JSON or NDJSON. */
  readonly anyBodyType?: true;
  /**
   * Whether the body is a payload of any content type, read as the sender's device type or device
   * connector declares: declare `body` as `Type.Unsafe<Payload>(...)`, whose schema then only
   * documents it.
   */
  readonly payload?: true;
  /**
   * Whether the body has readings of devices, which are held whole: of large ones few of an
   * organization are in progress at once. In JSON, integers that a number does not hold exactly
   * arrive as their text.
   */
  readonly readings?: true;
  /**
   * Whether the body is a form (`application/x-www-form-urlencoded`), passed on as text; other
   * endpoints reject forms.
   */
  readonly form?: true;
  /**
   * Whether the path contains a secret: logs and error bodies show the path of the endpoint
   * instead.
   */
  readonly secretPath?: true;
  /** Success status; default 200, or 204 without `response` and `answerTypes`. */
  readonly status?: number;
  readonly response?: TSchema;
  /**
   * For the interface reference: schemas of the answer by content type, when it is not JSON alone.
   */
  readonly answerTypes?: ContentTypes;
  /**
   * For the interface reference: answers other than success and the common errors, by status; JSON.
   */
  readonly otherAnswers?: Readonly<Record<number, TSchema>>;
  /** For the interface reference: headers that an answer may carry, with their meaning. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /**
   * For the interface reference: the schema of errors where clients expect another body than that
   * of interface 7.
   */
  readonly refusalSchema?: TSchema;
  /** For the interface reference: content types of errors 4XX besides JSON. */
  readonly refusalTypes?: ContentTypes;
}

/** Declares an endpoint; keeps its literal type, from which handlers and clients get theirs. */
export function endpoint<const E extends Endpoint>(declared: E): E {
  return declared;
}

// Operation ids: the names of methods in generated clients, derived from method and path.

type Named = Pick<Endpoint, 'method' | 'path' | 'status' | 'operationId'>;

/**
 * The declared id, or one such as `getDevice`, `getDevices`, `createDevice`,
 * `postDeviceQueryRawKpi`.
 */
export function operationIdOf({ method, path, status, operationId }: Named): string {
  if (operationId !== undefined) return operationId;
  const steps = path.split('/').filter((step) => step !== '' && step !== 'v3');
  const words = steps.flatMap((step, at) => {
    // A word that is its own plural does not tell one from many.
    if (step.startsWith(':'))
      return steps[at - 1] === singular(steps[at - 1] ?? '') ? [`By${pascal(step)}`] : [];
    const isOne = steps[at + 1]?.startsWith(':') === true;
    const isMade = method === 'POST' && status === 201 && at === steps.length - 1;
    return [pascal(isOne || isMade ? singular(step) : step)];
  });
  return verbOf(method, status) + words.join('');
}

function verbOf(method: Method, status: number | undefined): string {
  if (method === 'POST') return status === 201 ? 'create' : 'post';
  return { GET: 'get', PUT: 'update', DELETE: 'delete' }[method];
}

function pascal(step: string): string {
  const words = step.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function singular(step: string): string {
  if (step.endsWith('ies')) return `${step.slice(0, -3)}y`;
  return step.endsWith('s') && !step.endsWith('ss') ? step.slice(0, -1) : step;
}

// Record endpoints: list, create, read, update and delete of one kind of record, from its path, scope and schemas.

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
  /** Whether the records are ours alone: a body is refused for members that the record has not either. */
  readonly isOwn?: true;
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
  const ownBody = declared.isOwn && ({ ownBody: 'record' } as const);
  return {
    list: { method: 'GET', path, tag, access: access('read', 'handler'), ...declared.list },
    create: {
      method: 'POST',
      path,
      tag,
      access: { ...access('create', 'body'), ...also },
      status: 201,
      response: record,
      ...ownBody,
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
      ...ownBody,
      ...declared.update,
    },
    remove: { method: 'DELETE', ...single, access: access('delete', 'path'), ...declared.remove },
  } as const satisfies Readonly<Record<string, Endpoint>>;
}
