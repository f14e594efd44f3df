// Session: who is signed in, the workspaces in reach, and the one that was open last.
import { onlineManager, queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { components } from '../../generated/interface-types.ts';
import { answers } from '../api/answers.ts';
import { ask, csrfToken, endedSession, platform } from '../api/platform.ts';
import { discardStream } from '../api/stream.ts';
import { createWatchedValue } from '../api/watched-value.ts';

// Signing in again: a session that ended while the page was open is begun anew over the page.

class SigningIn {
  readonly isAsked = createWatchedValue(false);
  #answers: ((isSignedIn: boolean) => void)[] = [];

  /** Called by the part that shows the form; returns how to take it back. */
  offer(): () => void {
    endedSession.begin = () => {
      this.isAsked.set(true);
      // Several requests at once ask once.
      return new Promise((resolve) => this.#answers.push(resolve));
    };
    return () => {
      delete endedSession.begin;
      this.end(false);
    };
  }

  end(isSignedIn: boolean): void {
    this.isAsked.set(false);
    for (const answer of this.#answers.splice(0)) answer(isSignedIn);
  }
}

export const signingIn = new SigningIn();

const workspacesMax = 1_000;

export const account = queryOptions({
  queryKey: ['account'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: ({ signal }) => ask(platform.GET('/v3/auth/me', { signal })),
});

type Account = components['schemas']['Caller'];

/** Whether the organization of the session demands a second factor that the user lacks. */
export function isClosed({ organizationId, organizations }: Account): boolean {
  const own = organizations.find((one) => one.organizationId === organizationId);
  return own?.secondFactorMissing === true;
}

export const workspacesOf = (organizationId: string) =>
  queryOptions({
    queryKey: ['workspaces', organizationId],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/workspaces', {
          signal,
          params: { query: { organizationId, size: workspacesMax } },
        }),
      ),
  });

/** Whether the browser holds a session; a request without one would be an error on the console. */
export function hasSession(): boolean {
  return csrfToken() !== undefined;
}

/** The account of the session; only below the sign-in check of the router. */
export function useAccount() {
  return useSuspenseQuery(account).data;
}

export function useWorkspaces() {
  const { organizationId } = useAccount();
  return useQuery(workspacesOf(organizationId));
}

/** Ends this session; the provider's own session ends with it, or the next user would be signed in as the last. */
export function signOut(): Promise<void> {
  return leave(async () => {
    const ended = await ask(platform.POST('/v3/auth/logout'));
    return ended?.endSessionUrl;
  });
}

/** Ends every session of the user, this one included. A session that began a while ago needs the password. */
export function signOutEverywhere(password: string | null): Promise<void> {
  return leave(async () => {
    await ask(platform.POST('/v3/auth/logout-everywhere', { body: { password } }));
    return undefined;
  });
}

/**
 * Ends the session with `end` and loads the page that it returns, or the sign-in page. The page is
 * loaded anew, so that nothing of this user stays in memory.
 */
async function leave(end: () => Promise<string | undefined>): Promise<void> {
  // Until the page is gone other requests wait: behind the end of the session they would be refused with 401.
  onlineManager.setOnline(false);
  try {
    await answers.cancelQueries();
    const next = await end();
    // It would connect again without a session.
    discardStream();
    // Not when a session ends on its own: the same user finds the edits after signing in again.
    discardDrafts();
    location.assign(next ?? '/sign-in');
  } catch (error) {
    onlineManager.setOnline(true);
    throw error;
  }
}

/** Discards every answer that the last session got. */
export function discardSession(): void {
  discardStream();
  answers.clear();
}

// Last workspace: where the links lead on pages that belong to no workspace.

const key = 'workspace';

/** That of this tab, else the one that was open last in any tab. */
export function lastWorkspace(): string | undefined {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key) ?? undefined;
}

export function rememberWorkspace(id: string): void {
  sessionStorage.setItem(key, id);
  localStorage.setItem(key, id);
}

/** The workspace of the address, else the last one that was open. */
export function useWorkspaceId(): string {
  const { workspaceId } = useParams({ strict: false });
  return workspaceId ?? lastWorkspace() ?? '';
}

// Draft places: where the browser keeps edits that are not saved, and how all of them end.

const prefix = 'draft ';

/** Key of the storage for the edits of a record. */
export function draftPlace(key: string): string {
  return `${prefix}${key}`;
}

/** Whether this browser keeps edits under the key. */
export function hasDraft(key: string): boolean {
  const place = draftPlace(key);
  return localStorage.getItem(place) !== null || sessionStorage.getItem(place) !== null;
}

/** The next user of this browser does not see the edits of the one who signed out. */
function discardDrafts(): void {
  for (const storage of [localStorage, sessionStorage])
    for (const place of Object.keys(storage))
      if (place.startsWith(prefix)) storage.removeItem(place);
}
