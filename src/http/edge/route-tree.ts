// Route tree: finds the route of a plain path, literal steps before parameters, as the framework's router does.
import type { Endpoint } from '../../contract/endpoint.ts';
import { servedMethods } from './request-handling.ts';

type Addressed = Pick<Endpoint, 'method' | 'path'>;

interface FoundRoute<R> {
  readonly route: R;
  readonly params: Readonly<Record<string, string>>;
}

interface Leaf<R> {
  readonly route: R;
  readonly names: readonly string[];
}

interface Node<R> {
  readonly literals: Map<string, Node<R>>;
  parameter: Node<R> | undefined;
  /** By method. */
  readonly leaves: Map<string, Leaf<R>>;
}

/** Without escapes, so that nothing must be decoded; the router merges repeated slashes. */
const plainStep = /^[\w.~:@-]+$/;
/** The framework refuses longer ones. */
const parameterLengthMax = 500;
const noParams = {};
const slash = 0x2f;

/**
 * `find` returns undefined for a path that has no route or is not plain: the framework answers
 * those.
 */
export function createRouteTree<R extends Addressed>(
  routes: readonly R[],
): (method: string, path: string) => FoundRoute<R> | undefined {
  const root = newNode<R>();
  for (const route of routes) if (isPlain(route.path)) add(root, route);
  const literal = literalRoutes(routes);
  return (method, path) => {
    const known = literal.get(path)?.get(method);
    if (known !== undefined) return known;
    const values: string[] = [];
    const leaf = find(root, { method, path, values }, 0);
    if (leaf === undefined) return undefined;
    return { route: leaf.route, params: paramsOf(leaf.names, values) };
  };
}

/** Routes without a parameter, by path and method: they come before all others. */
function literalRoutes<R extends Addressed>(
  routes: readonly R[],
): ReadonlyMap<string, ReadonlyMap<string, FoundRoute<R>>> {
  const found = new Map<string, Map<string, FoundRoute<R>>>();
  for (const route of routes) {
    if (route.path.includes(':') || !isPlain(route.path)) continue;
    const methods = found.get(route.path) ?? new Map<string, FoundRoute<R>>();
    found.set(route.path, methods);
    for (const method of servedMethods[route.method])
      methods.set(method, { route, params: noParams });
  }
  return found;
}

function isPlain(path: string): boolean {
  const [start, ...steps] = path.split('/');
  return start === '' && steps.length > 0 && steps.every((step) => plainStep.test(step));
}

function newNode<R>(): Node<R> {
  return { literals: new Map(), parameter: undefined, leaves: new Map() };
}

function add<R extends Addressed>(root: Node<R>, route: R): void {
  const names: string[] = [];
  let node = root;
  for (const step of route.path.split('/').slice(1)) {
    if (step.startsWith(':')) {
      names.push(step.slice(1));
      node.parameter ??= newNode();
      node = node.parameter;
    } else {
      const next = node.literals.get(step) ?? newNode<R>();
      node.literals.set(step, next);
      node = next;
    }
  }
  for (const method of servedMethods[route.method]) node.leaves.set(method, { route, names });
}

/** `at`: where the next slash of the path is, or its end. */
function find<R>(
  node: Node<R>,
  sought: {
    readonly method: string;
    readonly path: string;
    /** Of the parameters so far. */
    readonly values: string[];
  },
  at: number,
): Leaf<R> | undefined {
  const { method, path, values } = sought;
  if (at === path.length) return node.leaves.get(method);
  if (path.charCodeAt(at) !== slash) return undefined;
  const nextSlash = path.indexOf('/', at + 1);
  const end = nextSlash === -1 ? path.length : nextSlash;
  const step = path.slice(at + 1, end);
  const literal = node.literals.get(step);
  const found = literal && find(literal, sought, end);
  if (found !== undefined) return found;
  if (node.parameter === undefined || step.length > parameterLengthMax) return undefined;
  if (!plainStep.test(step)) return undefined;
  values.push(step);
  const behind = find(node.parameter, sought, end);
  if (behind === undefined) values.pop();
  return behind;
}

function paramsOf(
  names: readonly string[],
  values: readonly string[],
): Readonly<Record<string, string>> {
  if (names.length === 0) return noParams;
  const params: Record<string, string> = {};
  for (const [i, name] of names.entries()) params[name] = values[i] ?? '';
  return params;
}
