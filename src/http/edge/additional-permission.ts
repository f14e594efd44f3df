// Further permissions: what a handler checks besides the scope and verb of its endpoint (contract 36).
import type { Scope, Verb } from '../../model/permission.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';

/**
 * Throws 403 when the principal, who may call the route in the workspace, lacks the further
 * permission there.
 */
export function alsoNeeds(
  principal: Principal,
  scope: Scope,
  verb: Verb,
  workspaceId: string | null,
): void {
  if (!holds(principal, scope, verb, workspaceId)) throw problem('permissionDenied');
}
