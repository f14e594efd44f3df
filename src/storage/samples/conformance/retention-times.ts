// Retention times from plain objects, for tests.
import type { RetentionTimes } from '../sample-store.ts';

export function keeping(
  workspaces: Readonly<Record<string, number>>,
  dataFlows: Readonly<Record<string, number>> = {},
): RetentionTimes {
  return {
    workspaces: new Map(Object.entries(workspaces)),
    dataFlows: new Map(Object.entries(dataFlows)),
  };
}

export const keepAll = keeping({});
