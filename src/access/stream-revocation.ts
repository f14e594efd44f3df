// Stream revocation: ends live connections whose credential is revoked or loses permissions (contract 36).
import type { Principal } from '../model/principal.ts';
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import type { SessionAuthenticator } from './authenticators.ts';

/** Sessions that are read in parallel; those of the first are ended before the next are read. */
const readsAtOnce = 32;

/** Open connections, each of one principal. */
interface LiveConnections {
  /** Ends the connections for which the function returns true. */
  readonly endSessions: (isEnded: (principal: Principal) => boolean) => void;
  /** Ends all connections; clients connect again. */
  readonly restart: () => void;
}

const principalKindOf: Partial<Record<RecordChange['kind'], Principal['kind']>> = {
  apiKey: 'API_KEY',
  oauthClient: 'OAUTH_CLIENT',
};

/** Kinds of records that decide what the session of a user may do. */
const kindsOfUsers = new Set<RecordChange['kind']>(['session', 'member', 'user', 'organization']);

/** Whether the change may end the session of a user or change what it may do. */
function concernsUser(
  change: RecordChange,
  { id, sessionId, inOrganizations }: Principal,
): boolean {
  if (change.kind === 'session') return sessionId === change.id;
  if (change.kind === 'member') return id === change.userId;
  if (change.kind === 'user') return id === change.id;
  return change.kind === 'organization' && inOrganizations?.has(change.id) === true;
}

export function createStreamRevocation(
  connections: LiveConnections,
  sessions: Pick<SessionAuthenticator, 'current'>,
  failed: (error: unknown) => void,
): ChangeFollower {
  const recordChanged = (change: RecordChange): void => {
    const { kind, id, action } = change;
    const principalKind = principalKindOf[kind];
    if (action === 'deleted' && principalKind !== undefined) {
      connections.endSessions(
        (principal) => principal.kind === principalKind && principal.id === id,
      );
    } else if (action === 'deleted' && kind === 'organization') {
      connections.endSessions((principal) => principal.organizationId === id);
      endChangedUsers(connections, sessions, change).catch(failed);
    } else if (kindsOfUsers.has(kind)) {
      endChangedUsers(connections, sessions, change).catch(failed);
    }
  };
  return { recordChanged, changesMissed: connections.restart };
}

/**
 * Ends the connections of users whom the change concerns, where their session is over or their
 * permissions are not those of the start any more.
 */
async function endChangedUsers(
  { endSessions }: LiveConnections,
  sessions: Pick<SessionAuthenticator, 'current'>,
  change: RecordChange,
): Promise<void> {
  const connected = new Map<string, Principal>();
  endSessions((principal) => {
    const { sessionId } = principal;
    if (sessionId !== undefined && concernsUser(change, principal))
      connected.set(sessionId, principal);
    return false;
  });
  const waiting = [...connected];
  const failures: unknown[] = [];
  for (let from = 0; from < waiting.length; from += readsAtOnce) {
    const ended = new Set<string>();
    const read = waiting.slice(from, from + readsAtOnce).map(async ([sessionId, principal]) => {
      try {
        const current = await sessions.current(sessionId);
        if (current !== undefined && rightsOf(current) === rightsOf(principal)) return;
      } catch (error) {
        // What it may do now is unknown; its client connects again and is identified.
        failures.push(error);
      }
      ended.add(sessionId);
    });
    await Promise.all(read);
    if (ended.size > 0)
      endSessions(({ sessionId }) => sessionId !== undefined && ended.has(sessionId));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Sessions could not be read');
}

/** All permissions of a principal as text: equal texts mean equal permissions. */
function rightsOf({ organizationId, inOrganizations }: Principal): string {
  return JSON.stringify([organizationId, ...[...(inOrganizations?.values() ?? [])].map(rightsIn)]);
}

function rightsIn(principal: Principal): string {
  const { organizationId, workspaces, permissions, workspacePermissions } = principal;
  const reached = workspaces === 'all' ? workspaces : [...workspaces].sort();
  const added = [...(workspacePermissions ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([organizationId, reached, permissions, added]);
}
