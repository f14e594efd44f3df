// Workspace watch: a subscription to a workspace ends with the workspace or its credential (contract 36, 37).
import type { RecordChange } from '../../model/record.ts';
import type { WorkspaceFanOut } from './workspace-fan-out.ts';
import type { WorkspaceInterest, WorkspaceSubscription } from './workspace-interest.ts';

/** Call the returned function for every record change. */
export function createWorkspaceWatch(fanOut: WorkspaceFanOut): (change: RecordChange) => void {
  return ({ kind, id, action }) => {
    if (action !== 'deleted') return;
    if (kind === 'workspace') end(fanOut.interests(id), () => true);
    else if (kind === 'organization')
      end(fanOut.interests(), ({ grant }) => grant.organizationId === id);
    else if (kind === 'apiKey' || kind === 'oauthClient')
      end(fanOut.interests(), ({ grantedTo }) => grantedTo.id === id);
  };
}

function end(
  interests: readonly WorkspaceInterest[],
  isEnded: (subscription: WorkspaceSubscription) => boolean,
): void {
  for (const { reader, subscriptions } of interests) {
    const ended = [...subscriptions.values()].filter(isEnded);
    if (ended.length > 0) reader.withdraw(ended);
  }
}
