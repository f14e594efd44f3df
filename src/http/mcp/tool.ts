// Tool: what an assistant can ask for, answered by requests to the interface with the credential of its caller.
import type { Static, TSchema } from 'typebox';

/** Resolves with the JSON of a successful answer. Throws `ToolRefusal` for any other. */
export type Ask = (method: 'GET' | 'POST', url: string, body?: unknown) => Promise<unknown>;

/** Who uses the tools. */
export interface ToolCaller {
  readonly ask: Ask;
  /** Undefined for all of the organization. */
  readonly workspaceIds: readonly string[] | undefined;
  readonly organizationId: string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** What it does and returns, for the model that chooses it. */
  readonly description: string;
  readonly input: TSchema;
  /** The input must match the schema. */
  readonly run: (caller: ToolCaller, input: unknown) => Promise<unknown>;
}

/** The reason of a missing result, for the model: what the interface refused, and what to do. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}

/** Declares a tool, whose input has the type of its schema. */
export function tool<S extends TSchema>(
  declared: Omit<Tool, 'run' | 'input'> & {
    readonly input: S;
    readonly run: (caller: ToolCaller, input: Static<S>) => Promise<unknown>;
  },
): Tool {
  const { run } = declared;
  return { ...declared, run: (caller, input) => run(caller, input as Static<S>) };
}

/** An id that is a segment of a path: a dot or two would name another one. */
export const idPattern = '^(?!\\.{1,2}$)[^/?#]+$';

/** An address with the parameters that have a value. */
export function urlOf(
  path: string,
  query: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The named members of an object, where it has them. */
export function membersOf(value: unknown, names: readonly string[]): Record<string, unknown> {
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => (name in members ? [[name, members[name]]] : [])),
  );
}
