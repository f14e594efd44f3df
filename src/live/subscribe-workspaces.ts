// Subscriptions to workspaces: opens the kinds that are permitted, and refuses the others (contract 37).
import type { AcknowledgedItem } from '../contract/live-messages.ts';
import type { Principal } from '../model/principal.ts';
import type { MessageContext } from './client-message.ts';
import { refusal } from './live-refusal.ts';
import type { WorkspaceTarget } from './session-workspaces.ts';
import type { WorkspaceGrant } from './workspace-interest.ts';

interface Permitted {
  readonly target: WorkspaceTarget;
  readonly grant: WorkspaceGrant;
}

export interface WorkspaceVerdict {
  readonly permitted: readonly Permitted[];
  /** Unknown or forbidden workspaces and kinds, as the acknowledgement shows them. */
  readonly refused: readonly AcknowledgedItem[];
}

/** What the principal may follow. A permitted and a forbidden kind of one item are two items. */
export async function judgeWorkspaces(
  targets: readonly WorkspaceTarget[],
  principal: Principal,
  { followable }: MessageContext,
): Promise<WorkspaceVerdict> {
  const permitted: Permitted[] = [];
  const refused: AcknowledgedItem[] = [];
  const grants = new Map<string, WorkspaceGrant | undefined>();
  for (const { workspaceId } of targets)
    if (!grants.has(workspaceId)) grants.set(workspaceId, await followable(principal, workspaceId));
  for (const target of targets) {
    const { workspaceId, perSecond } = target;
    const grant = grants.get(workspaceId);
    const kinds = target.kinds.filter((kind) => grant?.kinds.has(kind));
    const others = target.kinds.filter((kind) => grant?.kinds.has(kind) !== true);
    if (grant !== undefined && kinds.length > 0)
      permitted.push({ target: { workspaceId, kinds, perSecond }, grant });
    if (others.length === 0) continue;
    const reason =
      grant === undefined
        ? 'The workspace is unknown or out of reach of the credential'
        : `The credential lacks the permission for ${others.join(', ')}`;
    refused.push({ workspaceId, kinds: others, valid: false, reason });
  }
  return { permitted, refused };
}

/** Takes room for those that are not open. Throws if there is not enough. */
export function takeWorkspaceRoom(
  { permitted }: WorkspaceVerdict,
  { workspaces, subscriptions: { room } }: MessageContext,
): number {
  const fresh = permitted.filter(({ target }) => workspaces.find(target) === undefined);
  const keys = new Set(fresh.map(({ target }) => `${target.workspaceId} ${target.kinds.join()}`));
  if (!room.take(keys.size)) throw refusal('TOO_MANY_SUBSCRIPTIONS', { max: room.max });
  return keys.size;
}

/** Opens all, with room that was taken. */
export function openWorkspaces(
  { permitted }: WorkspaceVerdict,
  principal: Principal,
  { workspaces }: MessageContext,
): void {
  for (const { target, grant } of permitted) workspaces.open(target, grant, principal);
}
