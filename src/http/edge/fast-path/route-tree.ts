// Route tree: finds the route of a plain path, literal steps before parameters, as the framework's router does.
import type { Endpoint } from '../../../contract/endpoint.ts';
import { servedMethods } from '../request-handling.ts';

export interface FoundRoute<R> {
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

/** Steps without escapes, so that nothing must be decoded; the router merges repeated slashes. */
const plainPath = /^(?:\/[\w.~:@-]+)+$/;
/** The framework refuses longer ones. */
const parameterLengthMax = 500;
const noParams = {};

/**
 * `find` returns undefined for a path that has no route or is not plain: the framework answers
 * those.
 */
export function createRouteTree<R extends Pick<Endpoint, 'method' | 'path'>>(
  routes: readonly R[],
): (method: string, path: string) => FoundRoute<R> | undefined {
  const root = newNode<R>();
  for (const route of routes) add(root, route);
  const literal = literalRoutes(routes);
  return (method, path) => {
    const known = literal.get(path)?.get(method);
    if (known !== undefined) return known;
    if (!plainPath.test(path)) return undefined;
    const values: string[] = [];
    const leaf = find(root, { method, steps: path.split('/'), values }, 1);
    if (leaf === undefined) return undefined;
    return { route: leaf.route, params: paramsOf(leaf.names, values) };
  };
}

/** Routes without a parameter, by path and method: they come before all others. */
function literalRoutes<R extends Pick<Endpoint, 'method' | 'path'>>(
  routes: readonly R[],
): ReadonlyMap<string, ReadonlyMap<string, FoundRoute<R>>> {
  const found = new Map<string, Map<string, FoundRoute<R>>>();
  for (const route of routes) {
    if (route.path.includes(':') || !plainPath.test(route.path)) continue;
    const methods = found.get(route.path) ?? new Map<string, FoundRoute<R>>();
    found.set(route.path, methods);
    for (const method of servedMethods[route.method])
      methods.set(method, { route, params: noParams });
  }
  return found;
}

function newNode<R>(): Node<R> {
  return { literals: new Map(), parameter: undefined, leaves: new Map() };
}

function add<R extends Pick<Endpoint, 'method' | 'path'>>(root: Node<R>, route: R): void {
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

function find<R>(
  node: Node<R>,
  sought: {
    readonly method: string;
    readonly steps: readonly string[];
    /** Of the parameters so far. */
    readonly values: string[];
  },
  at: number,
): Leaf<R> | undefined {
  const step = sought.steps[at];
  if (step === undefined) return node.leaves.get(sought.method);
  const literal = node.literals.get(step);
  const found = literal && find(literal, sought, at + 1);
  if (found !== undefined) return found;
  if (node.parameter === undefined || step.length > parameterLengthMax) return undefined;
  sought.values.push(step);
  const behind = find(node.parameter, sought, at + 1);
  if (behind === undefined) sought.values.pop();
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
