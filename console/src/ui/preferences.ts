// Preferences: what follows a user to every browser, kept by the platform (contract 37).
import { queryOptions, useQuery } from '@tanstack/react-query';
import { answers } from '../api/answers.ts';
import { ask, platform, Refusal } from '../api/platform.ts';
import type { Language } from '../words/word-set.ts';
import type { ThemeChoice } from './theme.ts';
import { toastFailure } from './toasts.tsx';
import type { ZoneChoice } from '../words/zone-times.ts';

/** Something that was open before, for the palette. */
export interface Recent {
  readonly path: string;
  readonly name: string;
  readonly workspaceId: string;
}

/** Every member may be missing; members that this version does not know are kept. */
export interface Preferences {
  readonly theme?: ThemeChoice;
  readonly language?: Language;
  readonly zone?: ZoneChoice;
  /** Keys without Ctrl or Cmd (WCAG 2.1.4); on without it. */
  readonly singleKeys?: boolean;
  readonly recents?: readonly Recent[];
  /** Columns of the device list by workspace, as its address has them. */
  readonly columns?: Readonly<Record<string, string>>;
  /** The last values of variables by dashboard, then by name. */
  readonly variables?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

type Change = (before: Preferences) => Preferences;

/** Several changes in this time become one request. */
const gatherMs = 250;

const preferences = queryOptions({
  queryKey: ['preferences'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }) =>
    // A choice during the request is the newer one.
    changed(await fetchPreferences(signal), [...storing, ...waiting]),
});

const none: Preferences = {};
const waiting: Change[] = [];
let storing: Change[] = [];
let isStoring = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Undefined until they have arrived, and for somebody who is not signed in. */
export function usePreferences(isSignedIn = true): Preferences | undefined {
  return useQuery({ ...preferences, enabled: isSignedIn }).data;
}

/** Shows the change immediately and stores it; other tabs may change other members meanwhile. */
export function changePreferences(change: Change): void {
  waiting.push(change);
  answers.setQueryData<Preferences>(preferences.queryKey, (before = none) => change(before));
  clearTimeout(timer);
  timer = setTimeout(() => void store(), gatherMs);
}

/** One request at a time: the end of one would drop what another one has not stored yet. */
async function store(): Promise<void> {
  if (isStoring) return;
  isStoring = true;
  storing = [...storing, ...waiting.splice(0)];
  try {
    const stored = await fetchPreferences();
    const wanted = changed(stored, storing);
    if (JSON.stringify(wanted) !== JSON.stringify(stored))
      await ask(platform.PUT('/v3/auth/me/preferences', { body: { ...wanted } }));
    storing = [];
    answers.setQueryData<Preferences>(preferences.queryKey, changed(wanted, waiting));
  } catch (error) {
    // What was chosen holds in this tab; the next change stores it with its own.
    if (error instanceof Refusal && error.status >= 400 && error.status !== 401)
      toastFailure(error);
  }
  isStoring = false;
  if (waiting.length > 0) void store();
}

function changed(stored: Preferences, changes: readonly Change[]): Preferences {
  return changes.reduce((before, change) => change(before), stored);
}

async function fetchPreferences(signal?: AbortSignal): Promise<Preferences> {
  const stop = signal === undefined ? {} : { signal };
  return ask<unknown>(platform.GET('/v3/auth/me/preferences', stop)) as Promise<Preferences>;
}
